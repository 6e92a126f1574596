"""No kernel writes or reads past its arrays: the graph laws again, compiled with bounds checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trajcredit.graph import build_graphs
from trajcredit.graph.text import collect
from trajcredit.kernels import scan
from trajcredit.model import Span, Trajectory

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(600)
def test_the_graph_laws_hold_with_bounds_checks(tmp_path):
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "1"}
    files = ["tests/graph/test_graph.py", "tests/graph/test_values.py"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", *files], cwd=ROOT, env=checked, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-3000:]


def test_texts_of_one_character_each_make_a_token_a_byte():
    talks = [Trajectory(id=str(k), spans=[Span("user", -1, "2+2?"), Span("assistant", 0, str(k))]) for k in range(10)]
    assert len(build_graphs(talks)) == 10


def test_a_table_too_short_is_told_how_long_it_must_be():
    buffer = collect(["AB-1234 CD-5678 EF-9012", "7"])
    offsets = np.zeros(3, dtype=np.int64)
    needed = scan.scan(buffer.data, buffer.offsets, np.empty((0, scan.COLUMNS), dtype=np.int32), offsets)
    short = np.full((needed, scan.COLUMNS), -7, dtype=np.int32)
    assert scan.scan(buffer.data, buffer.offsets, short[: needed - 2], offsets) == needed
    assert (short[-2:] == -7).all()
    assert scan.scan(buffer.data, buffer.offsets, short, offsets) == needed
    assert (short[-2:] != -7).any()
