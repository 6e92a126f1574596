"""Which law holds is read off the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.build import batch_of, run
from trajcredit.attributors import Attributor, Dag, Gae, Grpo, Rtg
from trajcredit.service.laws import Proven, compares_siblings, law_of, totals, unexplained


def never() -> Sequence[float]:
    raise AssertionError("the numbers alone prove it")


@pytest.mark.parametrize(
    ("credit", "gains", "law", "total"),
    [
        pytest.param([], None, "free", None, id="nothing scored, nothing proven"),
        pytest.param([-0.5], None, "flat", -0.5, id="one span"),
        pytest.param([-0.5, -0.5, -0.5], None, "flat", -0.5, id="one number for all"),
        pytest.param([-0.5, -0.5 * (1 + 1e-12)], None, "flat", -0.5, id="rounding is no difference"),
        pytest.param([1e-12, 2e-12], None, "flat", None, id="tiny numbers differ all the same"),
        pytest.param([0.0, 0.0], None, "flat", 0.0, id="nothing for everybody"),
        pytest.param([-0.5, 0.0], [1.0, 0.0], "mask", -0.5, id="all or nothing by the attributor's word"),
        pytest.param([-0.405, -0.45, 0.0, -0.5], [0.81, 0.9, 0.0, 1.0], "mask", -0.5, id="discounted along the path"),
        pytest.param([0.15, 0.5], [0.3, 1.0], "mask", 0.5, id="damped off the path"),
        pytest.param([-0.5, -0.5], [1.0, 1.0], "flat", -0.5, id="a mask that masks nothing is flat"),
    ],
)
def test_laws_that_the_numbers_prove(credit, gains, law: str, total: float | None) -> None:
    given = None if gains is None else np.array(gains)
    ask = never if total is not None or not credit else tuple
    found = law_of(np.array(credit), given, ask)
    if total is None and credit:
        assert found.law != law
    else:
        assert found == Proven(law, pytest.approx(total))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("credit", "possible", "law", "total"),
    [
        pytest.param([1.0, 1.0, 0.0], [1.0], "mask", 1.0, id="a reward in the middle, and nothing after it"),
        pytest.param([0.0, -1.0], [0.0], "free", None, id="the one number is not the whole"),
        pytest.param([-0.06, -0.36, -0.04, -0.04], [0.25, -0.5], "shared", -0.5, id="shares that add up"),
        pytest.param([0.7, -0.2], [0.5], "shared", 0.5, id="shares of both signs"),
        pytest.param([0.3, -0.3, 0.1, -0.1], [0.0], "shared", 0.0, id="shares of nothing"),
        pytest.param([0.7, -0.2], [0.5 + 1e-6], "free", None, id="nearly is not"),
        pytest.param([0.7, -0.2], [], "free", None, id="of nothing known"),
        pytest.param([1.0, 0.0], [1.0], "mask", 1.0, id="all on one span is a mask before it is shares"),
    ],
)
def test_laws_that_need_the_outcome(credit, possible, law: str, total: float | None) -> None:
    assert law_of(np.array(credit), None, lambda: possible) == Proven(law, total)  # type: ignore[arg-type]


def test_gains_that_do_not_fit_prove_nothing() -> None:
    assert law_of(np.array([0.7, -0.2]), np.array([1.0, 0.5]), tuple).law == "free"


@pytest.mark.parametrize(
    ("credit", "forecasts", "rest"),
    [
        pytest.param([-0.25, 0.35, -0.25], [-0.1, 0.5, -0.1], -0.15, id="a part and the forecast"),
        pytest.param([-0.4, -0.15], [-0.2, 0.3], -0.3, id="the forecast counts half"),
        pytest.param([0.1, 0.5], [0.1, 0.5], 0.0, id="only the forecast, whatever is rounded off"),
        pytest.param([-0.25, 0.35, -0.2], [-0.1, 0.5, -0.1], None, id="another number for the same forecast"),
        pytest.param([-0.25, 0.35, 0.1], [-0.1, 0.5, 0.2], None, id="no straight line"),
        pytest.param([0.5, 0.5], [0.0, 0.0], None, id="no forecast tells them apart"),
        pytest.param([0.5, 0.5], [np.nan, np.nan], None, id="no forecast"),
    ],
)
def test_the_part_that_is_the_same_in_every_number(credit, forecasts, rest: float | None) -> None:
    found = unexplained(np.array(credit), np.array(forecasts))
    assert found == (None if rest is None else pytest.approx(rest))
    assert rest != 0.0 or found == 0.0


@pytest.mark.parametrize(
    ("attributor", "expected"),
    [
        pytest.param(Rtg(), [1.0], id="rtg subtracts nothing"),
        pytest.param(Gae(), [0.75], id="gae subtracts the forecast at the start"),
        pytest.param(Gae(values="zero"), [1.0], id="unless that is to be 0"),
        pytest.param(Dag(base="rtg"), [1.0], id="dag is as its base"),
        pytest.param(Grpo(), [0.5, 1.0, 1.0, 0.75], id="group mean, siblings, nothing, forecast"),
        pytest.param(None, [0.5, 1.0, 1.0, 0.75], id="of an unknown one all of them"),
    ],
)
def test_what_outcome_minus_baseline_may_be(attributor: Attributor | None, expected: list[float]) -> None:
    batch = batch_of(run("ca", 1.0, values=[0.25, 0.5]), run("a", 0.0), run("a"))
    assert totals(attributor, batch, 0) == tuple(expected)


@pytest.mark.parametrize(
    ("attributor", "expected"),
    [(Grpo(), True), (Dag(), True), (Dag(base="rloo"), True), (Dag(base="broadcast"), False), (None, False)],
)
def test_who_compares_siblings(attributor: Attributor | None, expected: bool) -> None:
    assert compares_siblings(attributor) is expected
