"""T19: what a log repeats does not multiply: few sources a value, memory and edges in proportion to the log."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.explode import CASES

ROOT = Path(__file__).parents[2]
HANGS = 120
"""Seconds: only a quadratic search takes longer, the kernels' first compilation included."""


@pytest.mark.parametrize("case", CASES)
def test_a_log_that_repeats_itself_has_a_graph_in_bounds(case):
    run = subprocess.run(
        [sys.executable, "-m", "tests.hostile.explode", case],
        capture_output=True, text=True, cwd=ROOT, timeout=HANGS, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["sources"] <= 8
    assert found["edges"] <= 12 * found["spans"]
    assert found["bytes"] <= 500 << 20
