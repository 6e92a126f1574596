"""How long a bar may be: the 99th percentile of a run's numbers, the same from memory and from the store."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from tests.build import run
from tests.service.scenes import PROJECT, ran
from tests.store.shelf import put
from trajcredit.service import scales
from trajcredit.service.scales import Scale, remember, scale_of
from trajcredit.store import Store, trajectories

NAN = np.nan


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test begins with an empty memory."""
    monkeypatch.setattr(scales, "_known", OrderedDict())


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param([], None, id="no span, no scale"),
        pytest.param([NAN, NAN], None, id="nothing scored"),
        pytest.param([0.0, NAN], 0.0, id="zero is a number"),
        pytest.param([-0.5, NAN, 0.25], 0.25 + 0.99 * 0.25, id="sizes, not numbers"),
        pytest.param([float(n) for n in range(101)], 99.0, id="one in a hundred may be larger"),
        pytest.param([-1.0] * 199 + [1000.0], 1.0, id="one far out stretches no other"),
    ],
)
def test_the_scale_by_hand(sqlite_url: str, numbers: list[float], expected: float | None) -> None:
    from trajcredit.store import open_store

    with open_store(sqlite_url) as store:
        found = remember(store, "r", np.array(numbers), np.array([2 * number for number in numbers]))
    assert found.credit == pytest.approx(expected)
    assert found.advantage == pytest.approx(None if expected is None else 2 * expected)


def test_what_is_worked_out_again_is_what_was_remembered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, *(run("ucra", float(n % 3), name=f"t{n}", group=f"g{n // 4}") for n in range(20)), run("u", name="none"))
    made = ran(store, "rtg", gamma=0.5)
    kept = scale_of(store, PROJECT, made.id)
    monkeypatch.setattr(scales, "_known", OrderedDict())
    assert scale_of(store, PROJECT, made.id) == kept
    sizes = [abs(credit) for n in range(20) for credit in (0.5 * (n % 3), float(n % 3))]
    assert kept.credit == pytest.approx(float(np.percentile(sizes, 99)))
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:t2")
    assert scale_of(store, PROJECT, made.id) == kept


def test_scales_of_two_databases_are_two(store: Store, tmp_path) -> None:
    from trajcredit.store import open_store

    with open_store(str(tmp_path / "other.db")) as other:
        remember(store, "r", np.array([1.0]), np.array([1.0]))
        remember(other, "r", np.array([2.0]), np.array([2.0]))
        assert scale_of(store, PROJECT, "r") == Scale(1.0, 1.0)
        assert scale_of(other, PROJECT, "r") == Scale(2.0, 2.0)


def test_memory_is_bounded_and_what_fell_out_is_worked_out_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scales, "MOST", 2)
    put(store, run("a", 1.0, name="x"), run("a", 0.0, name="y"))
    first = ran(store, "grpo")
    for name in ("r1", "r2", "r3"):
        remember(store, name, np.array([9.0]), np.array([9.0]))
    assert len(scales._known) == 2
    assert scale_of(store, PROJECT, first.id).credit == pytest.approx(0.5)


def test_a_run_that_scored_nothing_has_no_scale(store: Store) -> None:
    put(store, run("u", name="x"))
    assert scale_of(store, PROJECT, ran(store, "grpo").id) == Scale(None, None)
