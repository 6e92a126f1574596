"""Tests of the verbs over the store may ask for `store` or `url` and then run on both databases."""

from tests.databases import postgres_url, sqlite_url, store, url

__all__ = ["postgres_url", "sqlite_url", "store", "url"]
