"""Generated data sets that have a failure mode, and twins that do not: a short form of bench/diagnose.py."""

from __future__ import annotations

import pytest

from tests.diagnostics.worlds import WORLDS, world
from trajcredit.diagnostics import MODES
from trajcredit.service import diagnosing, stateless

SEED = 1001
"""Of 100 others `python bench/diagnose.py` counts how many are found."""


def test_every_mode_has_a_world():
    assert list(WORLDS) == list(MODES)


@pytest.mark.parametrize("mode", WORLDS)
@pytest.mark.parametrize(("present", "status"), [(True, "found"), (False, "clear")], ids=["with", "twin"])
def test_a_mode_is_found_where_it_is_and_nowhere_else(mode, present, status):
    found = diagnosing.diagnose(stateless.graphs(world(mode, present, SEED)), diagnosing.Asked())
    assert next(one.status for one in found.modes if one.mode == mode) == status


def test_a_world_is_the_same_every_time():
    assert world("memory_mismatch", True, 3) == world("memory_mismatch", True, 3)
    assert world("memory_mismatch", True, 3) != world("memory_mismatch", True, 4)
