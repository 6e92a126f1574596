"""The page of figures: what is missed is said, growth is told, and the arithmetic of the cost model."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"
STAGES = ("decode", "read", "graph", "batch", "score", "export parquet", "whole")


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


def page() -> Any:
    return importlib.import_module("performance_page")


def growth(points: Any, figure: str) -> Any:
    return importlib.import_module("measuring").growth(points, figure)


def measure(name: str, value: float, better: str = "lower", budget: Any = None, rate: Any = None) -> dict[str, Any]:
    return {"name": name, "value": value, "better": better, "unit": "x", "budget": budget, "per_second": rate}


def point(what: str, spans: int, ns: float, held: Any = 100.0) -> dict[str, Any]:
    return {"what": what, "spans": spans, "ns": ns, "bytes": held}


def record(**more: Any) -> dict[str, Any]:
    rates = [measure(f"{stage}, log x 10", 1.0, rate=1e6) for stage in STAGES]
    return {"measures": rates, "bytes_a_span": {"log": 800.0, "database": 600.0, "credits": 16.0}, **more}


def test_a_missed_budget_is_said_with_how_much_is_missing() -> None:
    rows = list(
        page()._budgets(
            {
                "measures": [
                    measure("read", 0.9, budget=0.6),
                    measure("peer", 20.0, "higher", 40.0),
                    measure("score", 0.1, budget=0.1),
                    measure("free", 7.0),
                ]
            }
        )
    )
    assert rows[2:] == [
        "| read | 0.90 x | at most 0.6 | missed by 50% |",
        "| peer | 20.00 x | at least 40 | missed by 50% |",
        "| score | 0.10 x | at most 0.1 | holds |",
    ]
    assert list(page()._figures({"measures": [measure("free", 7.0), measure("score", 1, budget=1)]}))[2:] == [
        "| free | 7.00 x |"
    ]


@pytest.mark.parametrize(
    ("ns", "grown"),
    [
        ((900, 100, 100, 100), 1.0),
        ((1, 100, 50, 90), 1.8),  # a thousand spans are too few to say; what fell may not rise again
        ((1, 400, 200, 100), 0.5),
        ((1, 100, 160, 150), 1.6),
    ],
)
def test_growth_is_against_the_best_smaller_size_from_ten_thousand_spans_up(ns: Any, grown: float) -> None:
    points = [point("x", 10 ** (3 + k), one) for k, one in enumerate(ns)]
    assert growth(points[::-1], "ns") == pytest.approx(grown)


def test_bytes_that_are_few_or_not_told_do_not_grow() -> None:
    assert growth([point("x", 10_000, 1, 1.0), point("x", 100_000, 1, 60.0)], "bytes") == 1.0
    assert growth([point("x", 10_000, 1, 1.0), point("x", 100_000, 1, 128.0)], "bytes") == 2.0
    assert growth([point("x", 10_000, 1, None), point("x", 100_000, 1, None)], "bytes") is None
    assert growth([point("x", 1_000, 1), point("x", 10_000, 1)], "ns") is None


def test_curves_are_a_table_by_size() -> None:
    curves = [point("dag", 938, 50), point("dag", 10_076, 20, 90.0), point("dag", 102_596, 40, None)]
    rows = list(page()._scaling({"curves": curves}))
    assert rows[0] == "| | 1e3 spans | 1e4 spans | 1e5 spans | time | memory |"
    assert rows[2] == "| dag | 50 ns, 100 B | 20 ns, 90 B | 40 ns | NOT flat, 2.00 | not told |"
    assert list(page()._scaling({})) == ["This record has none."]


def test_a_billion_spans_cost_what_their_parts_cost() -> None:
    rows = list(page()._billion(record(curves=[point("graphs", 100_000, 1, 3000.0), point("store write", 1000, 3600)])))
    said = "\n".join(rows)
    each = 1e9 / 1e6 / 3600
    assert f"| graph | 1,000,000 | {each:,.2f} |" in rows
    assert f"| all of them | 166,667 | {6 * each:,.1f} |" in rows
    hours = 8 * each  # six stages, two of them twice
    assert f"- Time: {hours:,.1f} core-hours / 256 cores = {60 * hours / 256:,.1f} minutes." in rows
    assert f"- To be done in one hour: {math.ceil(hours)} cores." in rows
    assert "- Shards: 1e9 / 100,000 = 10,000, so 39 a core." in rows
    assert "- Memory of a worker: 100,000 spans of graphs and their log = 0.38 GB." in rows
    assert "logs are read twice, 1,600 GB" in said
    assert "logs 800 GB, credit and advantage of a run 16 GB" in said
    assert "A database has one writer: 1.0 hours" in said


def test_every_input_is_said_to_be_measured_or_assumed() -> None:
    rows = list(page()._inputs(record(curves=[point("graphs", 100_000, 1), point("store write", 1000, 1)])))[2:]
    assert len(rows) == 11
    assert all(any(word in row for word in ("measured", "assumed", "by layout", "the default")) for row in rows)


def test_the_network_is_said_to_be_the_bound_where_it_is() -> None:
    for log, said in ((800.0, "the network is not the bound"), (8_000_000.0, "the network is the bound")):
        sizes = {"log": log, "database": 1.0, "credits": 16.0}
        assert any(said in row for row in page()._needs(record() | {"bytes_a_span": sizes}, 20.0))
