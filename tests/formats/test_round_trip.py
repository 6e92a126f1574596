"""Every log, read, written in our own form and read again: nothing is lost, nothing is added."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.neighbours import LOGS
from trajcredit.formats import read, read_bytes
from trajcredit.model import Trajectory, encode

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
SAMPLES = sorted(path for path in SHARED.rglob("*") if path.is_file() and path.suffix != ".md")


def comes_back(path: Path) -> None:
    found = [item for item in read(path) if isinstance(item, Trajectory)]
    lines = b"\n".join(map(encode, found))
    again = list(read_bytes(lines, "again.jsonl")) if found else []
    assert again == found
    assert [encode(item) for item in again if isinstance(item, Trajectory)] == lines.split(b"\n")[: len(found)]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_small_log_comes_back_equal(path: Path) -> None:
    comes_back(path)


@pytest.mark.skipif(not SAMPLES, reason=f"no sample logs at {SHARED}")
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_real_log_comes_back_equal(path: Path) -> None:
    comes_back(path)
