"""Nothing that a log can hold makes the critic crash, or say what is no number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import batch_of
from tests.critics.worlds import Step, ask, call, desk, got, say, think, told
from tests.laws import json_values, text
from trajcredit.batching import Batch
from trajcredit.critics import COLUMNS, FittedCritic, fill, fit
from trajcredit.model import Trajectory


def pool(make: Callable[[int, int], Sequence[Step]], groups: int = 8, rollouts: int = 2) -> list[Trajectory]:
    """Enough groups to learn from; `make(group, rollout)` says what happens in each run, and every second one wins."""
    return [
        told(*make(g, k), outcome=float(k % 2), name=f"{g}-{k}", group=f"g{g}")
        for g in range(groups)
        for k in range(rollouts)
    ]


def learnt(runs: Sequence[Trajectory]) -> Batch:
    """The batch with forecasts: a number on every action, and a model that was really fitted."""
    batch = batch_of(*runs)
    for kind in ("ridge", "compatible"):
        filled = fill(batch, kind)
        for name in COLUMNS:
            assert np.isfinite(getattr(filled, name)[batch.action_mask]).all()
        assert [note.code for note in filled.notes if note.code.startswith("critic")] == ["critic"]
    kept = of_the_desk().fill(batch)  # and by a critic that was fitted to something else
    assert np.isfinite(kept.values[batch.action_mask]).all()
    assert np.isfinite(kept.advantage_forecast[batch.action_mask]).all()
    return filled


@cache
def of_the_desk() -> FittedCritic:
    return fit(batch_of(*desk()), "compatible")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


ARGUMENTS = {
    "JSON of 90 levels": nested(45),
    "NaN and infinities": {"a": nan, "b": inf, "c": -inf, "d": -0.0, "e": 5e-324},
    "huge whole numbers": {"n": 10**400, "m": -(10**400), "id": "9" * 5000},
    "empty names": {"": {"": [{"": ""}]}},
    "not an object": [1, "x", None, True, [], {}],
    "a lone text": "drop table",
    "none": None,
    "bars, as in the names of features": {"a|b": "c|d", "*": "|"},
    "thousands of fields": {f"k{n}": n for n in range(3000)},
    "a text of 200,000 letters": {"x": "word " * 40_000},
}
RESULTS = {
    "JSON of 900 levels": '{"a":' * 900 + "1" + "}" * 900,
    "JSON of 100,000 levels": "[" * 100_000,
    "numbers that no float holds": '{"n": 1' + "0" * 400 + ', "m": -1' + "0" * 300 + ', "x": 1e400}',
    "whole numbers that no float holds": '{"n": 1' + "0" * 400 + ', "m": -1' + "0" * 300 + ', "rows": [{"id": 1'
    + "0" * 400 + '}, {"id": 1' + "0" * 399 + "}]}",
    "the largest floats": '{"n": 1.7e308, "m": -1.7e308, "rows": [{"x": 1.7e308}, {"x": 5e-324}]}',
    "NaN": '{"n": NaN, "m": Infinity}',
    "lists of lists": "[[[{}, {}], []], [{}]]",
    "records of all kinds": '[{"a": true}, {"a": 7}, {"a": "seven"}, {"a": null}, {"b": [1]}, 3, {"a": {"c": 1000}}]',
    "a list of 3,000 records": "[" + ", ".join(f'{{"id": "r{n}", "price": {n}}}' for n in range(3000)) + "]",
    "nothing": "",
    "an escaped half of a pair": '{"x": "\\ud800"}',
}  # fmt: skip


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_of_any_kind(arguments: Any) -> None:
    learnt(
        pool(lambda g, k: [ask("do 7"), call("look", arguments), got("ok"), call("pick", {"x": g + k}), say("done")])
    )


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_results_of_any_kind(result: str) -> None:
    learnt(
        pool(
            lambda g, k: [
                ask("do 7 for 1000"), call("look", {"x": g}), got(result), call("pick", {"x": "r7" if k else 1000}),
                got(result), say("done"),
            ]
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([call("look", {}), call("look", {}), say("x")], id="calls without results, no request"),
        pytest.param([got("a", answers=None), ask("x"), got("b", answers=None), say("y")], id="results without calls"),
        pytest.param([ask("x"), think("y")], id="nothing but thoughts"),
        pytest.param([ask("x"), ask("y"), say("z"), ask(""), say("")], id="a talk, partly of nothing"),
        pytest.param([ask("x"), call("", {"": 1}), got("", error=True), say("")], id="a tool without a name"),
        pytest.param([ask("x"), call("look!", {}), got("1"), call("\0message", {}), got("2")], id="odd names of tools"),
    ],
)
def test_runs_of_any_shape(steps: list[Step]) -> None:
    learnt(pool(lambda g, k: [*steps, call("pick", {"x": "right" if k else "wrong"})]))


def test_eight_thousand_calls_in_one_run() -> None:
    def long(g: int, k: int) -> list[Step]:
        n = 8_000 if (g, k) == (0, 0) else 2
        pairs = [(call("look", {"page": p, "key": f"w{p}"}), got({f"field{p}": p, "left": n - p})) for p in range(n)]
        return [ask("read all pages"), *(step for pair in pairs for step in pair), call("pick", {"x": k})]

    assert learnt(pool(long)).n_spans > 16_000


def test_eight_thousand_calls_in_one_turn() -> None:
    def wide(g: int, k: int) -> list[Step]:
        n = 8_000 if (g, k) == (0, 0) else 2
        calls = [call("look", {"page": p}) for p in range(n)]
        return [ask("read all pages"), *calls, *[got({f"field{p}": 1}) for p in range(n)], call("pick", {"x": k})]

    assert learnt(pool(wide)).n_spans > 16_000


def test_a_request_full_of_numbers_and_results_full_of_records() -> None:
    request = " ".join(map(str, range(5000)))
    rows = [{f"f{c}": r * c for c in range(10)} for r in range(500)]
    learnt(
        pool(lambda g, k: [ask(request), call("look", {"x": g}), got(rows), call("pick", {"x": 7 * k}), say("done")])
    )


steps = st.one_of(
    st.builds(ask, text),
    st.builds(say, text),
    st.builds(think, text),
    st.builds(call, st.sampled_from(["look", "pick", "", "|"]), json_values),
    st.builds(got, st.one_of(text, json_values), st.sampled_from([0, 0, None]), st.sampled_from([None, True, False])),
)


@settings(max_examples=40)
@given(runs=st.lists(st.lists(steps, max_size=6), min_size=4, max_size=4))
def test_runs_of_anything(runs: list[list[Step]]) -> None:
    learnt(pool(lambda g, k: [*runs[(g + 3 * k) % 4], say("done")], groups=8))
