"""A running belief: by hand, against the slow loop, calibration, whose outcomes enter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import exp, fsum, isnan, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.attributors.meetings import meetings, steps_by_hand, told
from tests.build import batch_of
from trajcredit.attributors import Belief, configure
from trajcredit.attributors.belief import NAMES, _calibrated, _folds
from trajcredit.attributors.events import better, events_of
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Trajectory

NAN = np.nan


def tasks(n: int = 4) -> list[Trajectory]:
    """Of each task two rollouts: who looks wins, who books loses."""
    return [
        told(f"u:{g} {call}{g} r:{g} a", win, name=f"{g}{call}", group=f"g{g}")
        for g in range(n)
        for call, win in (("c", 1.0), ("b", 0.0))
    ]


def temper(found: Any) -> float:
    [note] = [note for note in found.notes if note.code == "belief-temper"]
    return float(note.message.split("temper ")[1].split(" ")[0])


def test_the_ratio_of_a_first_call_by_hand() -> None:
    batch = batch_of(*tasks())
    first = Belief("log_odds").explain(batch, 1)
    # of the other three tasks 3 rollouts that won looked first and none that lost; p = 3 / 6
    ratio = log((3 + 5 * 0.5) / (3 + 5)) - log((0 + 5 * 0.5) / (3 + 5))
    found = Belief("log_odds")(batch)
    assert [term.name.split(":")[0] for term in first] == list(NAMES)
    assert first[0].value == pytest.approx(temper(found) * ratio, abs=0.01)
    assert temper(found) > 0.5
    assert found.credit[1] > 0 > found.credit[5]
    assert found.credit[1] == pytest.approx(-found.credit[5], abs=1e-12)


def test_in_chances_the_changes_add_up_to_the_last_belief_minus_the_first() -> None:
    batch = batch_of(*tasks())
    nats, chances = Belief("log_odds")(batch).credit[[1, 3]], Belief()(batch).credit[[1, 3]]
    # as many won as lost: the belief starts at one half
    assert fsum(chances) == pytest.approx(1 / (1 + exp(-fsum(nats))) - 0.5, abs=1e-9)


def test_calls_of_one_message_share_a_change_as_their_evidence_and_words_carry_the_sum() -> None:
    runs = [
        told(f"u:{g} t {call}1 c2 r:x r:y a", win, name=f"{g}{call}", group=f"g{g}")
        for g in range(4)
        for call, win in (("c", 1.0), ("b", 0.0))
    ]
    batch = batch_of(*runs)
    credit, nats = Belief()(batch).credit, Belief("log_odds")(batch).credit
    assert credit[1] == pytest.approx(credit[2] + credit[3])
    assert credit[2] / nats[2] == pytest.approx(credit[3] / nats[3])
    assert credit[2] != 0


def test_no_outcome_of_a_task_enters_the_belief_about_it() -> None:
    runs = tasks(6)
    turned = [told(f"u:2 {call}2 r:2 a", win, name=f"2{call}", group="g2") for call, win in (("c", 0.0), ("b", 1.0))]
    before, after = batch_of(*runs), batch_of(*runs[:4], *turned, *runs[6:])
    left, right = Belief()(before).credit, Belief()(after).credit
    np.testing.assert_array_equal(left[16:24], right[16:24])
    assert not np.array_equal(left, right, equal_nan=True)


@pytest.mark.parametrize(
    "outcomes", [pytest.param((1.0, 1.0), id="all alike"), pytest.param((None, 1.0), id="one scored")]
)
def test_where_nothing_tells_doing_well_the_belief_stays_and_a_note_says_so(outcomes: Any) -> None:
    runs = [
        told("u c1 r:x a", outcome, name=f"{g}{outcome}{k}", group=f"g{g}")
        for g in range(3)
        for k, outcome in enumerate(outcomes)
    ]
    batch = batch_of(*runs)
    found = Belief()(batch)
    mask = batch.action_mask & np.repeat(~np.isnan(batch.outcome), np.diff(batch.span_offsets))
    assert not found.credit[mask].any()
    assert [note.code for note in found.notes] == ["belief-untaught"]


def test_evidence_is_tempered_until_the_forecasts_are_calibrated() -> None:
    random = np.random.default_rng(0)
    evidence = random.normal(size=20_000) * 3
    did = (random.random(20_000) < 1 / (1 + np.exp(-(0.4 + 0.25 * evidence)))).astype(float)
    base, slope = _calibrated(evidence, did)
    assert base == pytest.approx(0.4, abs=0.05)
    assert slope == pytest.approx(0.25, abs=0.02)
    chance = 1 / (1 + np.exp(-(base + slope * evidence)))
    assert abs((did - chance) @ evidence - slope) < 1e-6, "the posterior mode: precision 1 on the slope"
    assert _calibrated(evidence, 1 - did)[1] == 0.0, "evidence that points the wrong way is not believed"
    assert _calibrated(evidence / 100, did)[1] == 1.0, "nor ever more than it claims"


def test_doing_well_is_relative_to_the_task() -> None:
    runs = [told("u a", o, name=f"{k}", group=g) for k, (g, o) in enumerate(
        [("x", 0.0), ("x", 1.0), ("y", 7.0), ("y", 8.0), ("y", 9.0), ("z", 3.0), ("z", 3.0), ("q", 1.0), ("q", None)]
    )]  # fmt: skip
    np.testing.assert_array_equal(better(batch_of(*runs)), [0, 1, 0, 0.5, 1, NAN, NAN, NAN, NAN])


def test_parameters_out_of_range_are_named() -> None:
    with pytest.raises(InputError, match="scale='nats' is not one of probability, log_odds"):
        Belief("nats")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="belief: pseudo=0"):
        Belief(pseudo=0.0)
    assert configure(Belief, {"scale": "log_odds", "pseudo": "2"}) == Belief("log_odds", 2.0)


Seen = list[tuple[Any, Any]]


def events_by_hand(batch: Batch) -> list[Seen]:
    """What is given and what happened, of every decision."""
    events = events_of(batch)
    found = []
    for k, t in enumerate(events.owner.tolist()):
        act, last = (int(batch.pool[t]), int(events.act[k])), (int(batch.pool[t]), int(events.last[k]))
        others = (int(events.origin[k]), bool(events.repeat[k]), bool(events.failed[k]), int(events.told[k]))
        found.append([((0, last), act), *(((n, act), other) for n, other in enumerate(others, start=1))])
    return found


def ratio(mine: Seen, train: Sequence[tuple[Seen, float]], pseudo: float) -> float:
    """Log-ratio of a decision, by others and how well their runs did."""
    well: Counter[Any] = Counter()
    ill: Counter[Any] = Counter()
    for seen, did in train:
        for before, event in seen:
            for key in (before, (before, event)):
                well[key] += did  # type: ignore[assignment]  # halves
                ill[key] += 1 - did  # type: ignore[assignment]
    total = 0.0
    for before, event in mine:
        both = (before, event)
        if well[both] + ill[both] > 1e-12:
            usual = pseudo * (well[both] + ill[both]) / (well[before] + ill[before])
            total += log((well[both] + usual) / (well[before] + pseudo))
            total -= log((ill[both] + usual) / (ill[before] + pseudo))
    return total


def belief_by_hand(batch: Batch, t: int, pseudo: float) -> tuple[float, dict[int, float]]:
    """Where the belief about a rollout starts, and what each of its decisions changes, in nats."""
    events, did, fold, seen = events_of(batch), better(batch), _folds(batch.group_ids), events_by_hand(batch)
    owner, group = events.owner.tolist(), batch.group
    teach = [
        u
        for u in range(batch.n_trajectories)
        if batch.pool[u] == batch.pool[t] and fold[group[u]] != fold[group[t]] and not isnan(did[u])
    ]
    rows = [(u, seen[k], float(did[u])) for k, u in enumerate(owner) if u in teach]
    base = slope = 0.0
    if teach:
        evidence = [
            fsum(
                ratio(mine, [(one, d) for v, one, d in rows if group[v] != group[u]], pseudo)
                for w, mine, _ in rows
                if w == u
            )
            for u in teach
        ]
        base, slope = _calibrated(np.array(evidence), did[teach])
    train = [(one, d) for _, one, d in rows]
    return base, {k: slope * ratio(seen[k], train, pseudo) for k, u in enumerate(owner) if u == t}


def naive(batch: Batch, belief: Belief) -> list[float]:
    """Counts in dictionaries, one decision at a time; folds and calibration as they are."""
    events = events_of(batch)
    credit = [NAN] * batch.n_spans
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        odds, nats = belief_by_hand(batch, t, belief.pseudo)
        for _, spans, _ in steps_by_hand(batch, t):
            mine = {k: nats[k] for k in nats if events.span[k] in spans}
            moved = fsum(mine.values())
            before, after = 1 / (1 + exp(-odds)), 1 / (1 + exp(-(odds + moved)))
            worth = (after - before) / moved if abs(moved) >= 1e-9 else before * (1 - before)
            worth = 1.0 if belief.scale == "log_odds" else worth
            odds += moved
            for i in spans:
                credit[i] = worth * moved
            for k, one in mine.items():
                credit[events.span[k]] = worth * one
    return credit


@pytest.mark.parametrize("belief", [Belief(), Belief("log_odds", 0.5)], ids=str)
@settings(max_examples=25)
@given(runs=meetings(groups=("x", "y", "z")))
def test_it_says_what_the_slow_loop_says_and_the_terms_add_up(belief: Belief, runs: list[Trajectory]) -> None:
    batch = batch_of(*runs)
    credit = belief(batch).credit
    np.testing.assert_allclose(credit, naive(batch, belief), atol=1e-8)
    for span in range(min(batch.n_spans, 10)):
        terms = belief.explain(batch, span)
        assert bool(terms) != isnan(credit[span])
        assert not terms or abs(fsum(term.value for term in terms) - credit[span]) < 1e-9


def test_it_reads_no_text() -> None:
    batch = batch_of(*tasks())
    np.testing.assert_array_equal(Belief()(batch).credit, Belief()(replace(batch, graphs=None)).credit)
