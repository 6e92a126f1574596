"""Every test of the store may ask for `store` or `url` and then runs on both databases."""

from tests.databases import postgres_url, sqlite_url, store, url

__all__ = ["postgres_url", "sqlite_url", "store", "url"]
