"""Tests against trainers' own packages: skipped where one is absent, failed where it was meant to be there.

TRAJCREDIT_TEST_INTEROP names the packages that are meant to be there, joined by commas: a test of test_<package>.py
that would be skipped then fails. `.ci/interop` sets it in the environments it makes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

MEANT = {name for name in os.environ.get("TRAJCREDIT_TEST_INTEROP", "").split(",") if name}

os.environ.setdefault("VERL_USE_EXTERNAL_PLUGINS", "none")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What these packages warn of on import is theirs to mend: shown, not failed."""
    for item in items:
        if item.get_closest_marker("interop"):
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A skip of a test whose package is meant to be there is a failure."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.skipped and item.path.stem.removeprefix("test_") in MEANT:
        report.outcome = "failed"
        report.longrepr = (
            f"TRAJCREDIT_TEST_INTEROP says the package is there, and the test was skipped: {report.longrepr}"
        )
