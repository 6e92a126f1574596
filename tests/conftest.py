"""Hypothesis without a deadline: the first example of a law compiles a kernel. And what browser tests need.

TRAJCREDIT_EXAMPLES=1000 looks longer for what breaks a law that names no number of its own.
"""

import os

import pytest
from hypothesis import settings

from tests.web.scripts import browser, tools

__all__ = ["browser", "tools"]

settings.register_profile("trajcredit", deadline=None, max_examples=int(os.environ.get("TRAJCREDIT_EXAMPLES", "50")))
settings.load_profile("trajcredit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser tests take longest, and one worker has them: it begins with them, and the others do the rest."""
    items.sort(key=lambda item: not item.nodeid.startswith("tests/web/"))
