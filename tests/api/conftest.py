"""Every test of the API may ask for `api` and then runs on both databases."""

from __future__ import annotations

import pytest

from tests.api.speaking import Api
from tests.databases import postgres_url, sqlite_url, store, url
from trajcredit.store import Store

__all__ = ["api", "postgres_url", "sqlite_url", "store", "url"]


@pytest.fixture
def api(store: Store) -> Api:
    """The app over an empty database."""
    return Api(store)
