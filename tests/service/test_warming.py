"""Warming: afterwards the first real log waits for nothing, and what goes wrong is told."""

import subprocess
import sys

from trajcredit.service import warming

SCRIPT = """
from trajcredit.kernels import dag, walk
from trajcredit.service.warming import warm
compiled = lambda: [len(kernel.signatures) for kernel in (walk.walk, dag.best_path)]
assert compiled() == [0, 0], compiled()
warm()
assert compiled() == [1, 1], compiled()
"""


def test_afterwards_the_kernels_are_there() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_fails_is_told_and_ends_nothing(monkeypatch, caplog) -> None:
    monkeypatch.setattr(warming, "build_graphs", lambda _: 1 / 0)
    warming.warm()
    [told] = caplog.records
    assert "could not be made ready" in told.getMessage()
