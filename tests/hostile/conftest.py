"""Hostile tests of the store run on both databases too."""

from tests.databases import postgres_url, sqlite_url, store, url

__all__ = ["postgres_url", "sqlite_url", "store", "url"]
