"""Engines for tests: `some`, asked for by its name as an indirect parameter of EVERY or SEVERAL."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from trajcredit.engines import Engine, engine

__all__ = ["EVERY", "RAY", "SEVERAL", "pool", "ray", "some"]

RAY = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed")
SEVERAL = ["pool", pytest.param("ray", marks=RAY)]
EVERY = ["in-process", *SEVERAL]


@pytest.fixture(scope="module")
def pool() -> Iterator[Engine]:
    with engine("pool", 2) as found:
        yield found


@pytest.fixture(scope="module")
def ray() -> Iterator[Engine]:
    with engine("ray", 2) as found:
        yield found


@pytest.fixture
def some(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "in-process":
        with engine("in-process") as found:
            yield found
    else:
        yield request.getfixturevalue(request.param)
