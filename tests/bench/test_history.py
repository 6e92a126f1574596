"""Records of how fast it is: what counts as worse, which records are held against each other, the page made of them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


def module(name: str) -> Any:
    return importlib.import_module(name)


def record(quiet: Any = True, cpu: Any = "a", **values: float) -> dict[str, Any]:
    measures = [
        {
            "name": name.replace("_", " "),
            "value": value,
            "better": "higher" if "against" in name else "lower",
            "unit": "x",
            "budget": 2.0 if "graph" in name else None,
            "per_second": None,
        }
        for name, value in values.items()
    ]
    return {
        "schema": "trajcredit.bench/1",
        "at": "2026-01-01T00:00:00+00:00",
        "commit": "abc",
        "machine": {"cpu": cpu, "cores": 2, "memory_gib": 4, "python": "3.11"},
        "packages": {"numpy": "2"},
        "log": "l",
        "load": [0.1, 0.2],
        "quiet": quiet,
        "missing": ["verl"],
        "measures": measures,
    }


@pytest.mark.parametrize(
    ("name", "old", "new", "by"),
    [
        ("graph", 2.0, 3.0, 0.5),
        ("graph", 2.0, 1.0, -0.5),
        ("x against y", 3.0, 2.0, 0.5),
        ("x against y", 2.0, 4.0, -0.5),
    ],
)
def test_worse_is_slower_whichever_way_a_ratio_goes(name: str, old: float, new: float, by: float) -> None:
    key = name.replace(" ", "_")
    [before], [now] = record(**{key: old})["measures"], record(**{key: new})["measures"]
    assert module("compare").worsened(before, now) == pytest.approx(by)


def test_fifteen_percent_are_flagged_and_no_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    history = tmp_path / "history.jsonl"
    rows = [record(graph=2.0, gae_against_verl=10.0, old=1.0), record(graph=2.31, gae_against_verl=8.8, fresh=1.0)]
    history.write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(sys, "argv", ["compare.py", "--history", str(history)])
    assert module("compare").main() == 1
    said = capsys.readouterr().out
    assert "graph: 2.00 -> 2.31 x, WORSE" in said
    assert "gae against verl: 10.00 -> 8.80 x, same" in said
    assert "fresh: new, 1.00 x" in said
    assert "old: not measured any more" in said
    assert "1 of 4 got worse by more than 15%" in said
    monkeypatch.setattr(sys, "argv", ["compare.py", "--history", str(history), "2", "1"])
    assert module("compare").main() == 0


def test_only_quiet_records_of_one_machine_are_held_against_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = module("compare")
    first, second = record(graph=1.0), record(graph=2.0)
    assert compare.pair([first, record(cpu="b", graph=9.0), record(quiet=False, graph=9.0), second]) == (first, second)
    assert compare.pair([record(cpu="b", graph=1.0), second]) is None
    assert compare.pair([record(quiet=False, graph=1.0)]) is None
    monkeypatch.setattr(sys, "argv", ["compare.py", "--history", str(tmp_path / "none.jsonl")])
    assert compare.main() == 2
    assert "nothing to compare" in capsys.readouterr().out


def test_a_measure_knows_whether_its_budget_holds() -> None:
    measure = module("measures").Measure
    assert measure("a", 4.9, "lower", "x", 5.0).held is True
    assert measure("a", 5.1, "lower", "x", 5.0).held is False
    assert measure("a", 41.0, "higher", "x", 40.0).held is True
    assert measure("a", 39.0, "higher", "x", 40.0).held is False
    assert measure("a", 1.0, "higher", "x").held is None


def test_the_page_is_what_its_record_says() -> None:
    page = module("performance_page")
    records = [json.loads(line) for line in page.HISTORY.read_text(encoding="utf-8").splitlines()]
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.page(text, page.last_quiet(records)) == text
    with pytest.raises(StopIteration):
        page.last_quiet([record(quiet=False, graph=1.0)])
