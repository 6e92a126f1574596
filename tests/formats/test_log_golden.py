"""Small logs in the form that real software writes, and the canonical lines they must become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats import read
from trajcredit.model import decode
from trajcredit.registry import formats

TESTS = Path(__file__).parent.parent
LOGS = sorted(path.name for path in (TESTS / "data").iterdir())


def test_every_format_has_a_log_here() -> None:
    assert all(any(log.startswith(name) for log in LOGS) for name in formats.items())


@pytest.mark.parametrize("log", LOGS)
def test_a_log_becomes_its_golden_lines(log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TESTS)
    found = list(read(f"data/{log}"))
    lines = (TESTS / "golden" / log).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    assert len(found) == len(lines)
    for item, line in zip(found, lines, strict=True):
        if isinstance(item, ParseError):
            assert {"error": item.reason, "file": item.file, "line": item.line} == json.loads(line)
        else:
            assert item == decode(line)
