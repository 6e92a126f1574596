"""What must hold for every attributor there is, at its defaults, read off the registry: a new one is tested too.

A law that an attributor does not keep is an exception with its reason, named here. Critics run as they do for users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attributors.meetings import meetings, told
from tests.build import batch_of, group_of, run
from tests.critics.worlds import desk, order, renamed, renumbered, rewarded
from trajcredit import registry
from trajcredit.arrays import F64
from trajcredit.attributors import Attributor
from trajcredit.batching import Batch
from trajcredit.critics import KINDS, fill
from trajcredit.exporters import Credit
from trajcredit.model import Reward, Trajectory
from trajcredit.service.attributing import explained, scored

Runs = list[Trajectory]
ATTRIBUTORS: dict[str, Callable[[], Attributor]] = {
    name: made for name, made in registry.attributors.items().items() if made.__module__.startswith("trajcredit.")
}
CRITIC = {"gae": "compatible"}
"""Named where the attributor names none itself and needs its columns."""
BY_ORDER = {"moving_average": "its baseline is what was uploaded before"}
NO_BASELINE = {
    "broadcast": "the outcome itself",
    "rtg": "the rewards themselves",
    "moving_average": "its baseline is of all groups",
    "reinforce_pp": "the rewards themselves before whitening, and its mean is of all groups",
    "maxrl": "its advantage is divided by the mean",
    "gpg": "its advantage counts the rewards that are not 0",
}
DISCOUNTED = {"gigpo": "its gamma is below 1: a constant is worth less the earlier a step, and runs differ in length"}
MORE_DATA = {"moving_average": "its baseline is what was uploaded before"}
"""A twin changes what others are held against."""
UNSCORED_WHERE_CUT = {"gae": "V after the end of a truncated run is not known: a note says so"}

every = pytest.mark.parametrize("name", sorted(ATTRIBUTORS))


def _answered(runs: Runs) -> Runs:
    """The same runs, each with an answer that its first look shows."""
    found = []
    for one in runs:
        shown = [span.text for span in one.spans if span.kind == "tool_result" and "seats" in span.text]
        answer = msgspec.json.decode(shown[0])["seats"][0]["seat"] if shown else "x y"
        found.append(msgspec.structs.replace(one, answer=answer))
    return found


@cache
def world() -> tuple[Trajectory, ...]:
    """Ten tasks of four, one of them without a reward."""
    return tuple(_answered([rewarded(one, None) if one.id == "run-4-1" else one for one in desk(groups=10)]))


def _moved() -> Runs:
    """Another constant added to the rewards of each group."""
    return [
        rewarded(one, one.rewards[0].value + int((one.group or "0-0")[5:])) if one.rewards else one for one in world()
    ]


VARIANTS: Mapping[str, Callable[[], Runs]] = {
    "plain": lambda: list(world()),
    "shuffled": lambda: order(world(), 5),
    "renamed": lambda: renamed(world(), {"look": "zz", "note": "qq", "pick": "aa", "book": "mm"}),
    "moved": _moved,
    "doubled": lambda: [*world(), *renumbered([one for one in world() if one.group == "task-2"], "twin")],
}


def _told(runs: Runs) -> Batch:
    """Their batch, with a log-prob of the known answer before every action, and tokens sampled in each."""
    batch = batch_of(*runs)
    place = np.arange(batch.n_spans) - np.repeat(batch.span_offsets[:-1], np.diff(batch.span_offsets))
    info = np.where(batch.action_mask, -3.0 / (1.0 + place), np.nan)
    return replace(batch, info=info, n_tokens=np.where(batch.action_mask, 1 + place, -1))


@cache
def _variant(which: str) -> tuple[Batch, dict[str, Batch]]:
    """A batch, and what critics say of it once they are asked."""
    return _told(VARIANTS[which]()), {}


@cache
def _credit(name: str, which: str) -> Credit:
    batch, filled = _variant(which)
    return scored(batch, name, ATTRIBUTORS[name](), CRITIC.get(name), filled)


def _numbers(credit: Credit) -> dict[str, F64]:
    """Credit, then advantage of every span of a trajectory, by its id."""
    ends = credit.batch.span_offsets
    both = np.stack([credit.credit, credit.advantage])
    return {name: both[:, ends[t] : ends[t + 1]] for t, name in enumerate(credit.batch.trajectory_ids)}


def _differences(name: str, which: str, ids: Callable[[str], str] = str) -> float:
    """The largest difference to the plain world, over what the plain world's numbers are."""
    plain, other = _numbers(_credit(name, "plain")), _numbers(_credit(name, which))
    return max(_apart(plain[one], other[ids(one)]) for one in plain if ids(one) in other)


def _apart(left: F64, right: F64) -> float:
    assert (np.isnan(left) == np.isnan(right)).all()
    return float(np.nanmax(np.abs(left - right), initial=0.0)) if not np.isnan(left).all() else 0.0


@every
def test_only_actions_of_scored_runs_have_numbers_and_all_of_them_do(name: str) -> None:
    found = _credit(name, "plain")
    batch = found.batch
    mine = batch.action_mask & np.repeat(~np.isnan(batch.outcome), np.diff(batch.span_offsets))
    for column in (found.credit, found.advantage):
        assert np.isfinite(column[mine]).all()
        assert np.isnan(column[~mine]).all()
    assert np.abs(found.credit[mine]).max() > 0, "a world in which it says nothing tests nothing"


@every
def test_the_explanation_adds_up_to_the_credit(name: str) -> None:
    found, made = _credit(name, "plain"), ATTRIBUTORS[name]()
    spans = np.random.default_rng(0).choice(found.batch.n_spans, 12, replace=False)
    for span in spans.tolist():
        explained(found, made, span)  # refuses terms that do not add up, and terms of spans without credit


@every
def test_order_of_storage_changes_nothing(name: str) -> None:
    apart = _differences(name, "shuffled")
    assert apart > 1e-3 if name in BY_ORDER else apart < 2e-6


@every
def test_other_names_of_tools_change_nothing(name: str) -> None:
    assert _differences(name, "renamed") < 2e-6


@every
def test_a_constant_added_to_the_rewards_of_a_group_changes_nothing(name: str) -> None:
    apart = _differences(name, "moved")
    assert apart > 0.4 if name in NO_BASELINE else apart < 2e-6


@every
def test_a_group_that_is_there_twice_is_scored_alike(name: str) -> None:
    """Twins get the same; where nothing is learnt from other groups they change nothing for anybody."""
    batch = _variant("doubled")[0]
    numbers, made = _numbers(_credit(name, "doubled")), ATTRIBUTORS[name]()
    twins = [one for one in batch.trajectory_ids if one.startswith("twin-")]
    apart = max(_apart(numbers[one], numbers[one.removeprefix("twin-")]) for one in twins)
    if name in MORE_DATA:
        assert apart > 1e-3
    elif made.scope == "group" and not made.needs:
        assert apart == 0
        assert _differences(name, "doubled") < 1e-12
    else:
        # each twin is scored by models that saw the other: the same but for the groups of its fold
        largest = max(float(np.nanmax(np.abs(numbers[one]))) for one in twins)
        assert apart < 0.25 * largest


WITHOUT_CRITIC = sorted(name for name, made in ATTRIBUTORS.items() if set(made().needs) <= {"info", "n_tokens"})


def _scored_all(runs: Runs) -> dict[str, dict[str, F64]]:
    """What every attributor that asks no critic says of runs."""
    batch = _told([msgspec.structs.replace(one, answer="x y") for one in runs])
    return {name: _numbers(scored(batch, name, ATTRIBUTORS[name]())) for name in WITHOUT_CRITIC}


def _all_alike(before: dict[str, dict[str, F64]], after: dict[str, dict[str, F64]], but: Mapping[str, str]) -> None:
    for name in before.keys() - but.keys():
        for one, numbers in before[name].items():
            np.testing.assert_allclose(numbers, after[name][one], rtol=1e-9, atol=1e-7, err_msg=f"{name}: {one}")


def _plain(runs: Runs, shift: Callable[[str], float]) -> Runs:
    """The same runs with their outcomes alone, each moved by what its group says.

    Outcomes are rounded first: a difference too small to survive the sum would be lost in one and not in the other.
    """
    return [
        msgspec.structs.replace(
            one, rewards=[Reward(round(r.value, 6) + shift(one.group or "")) for r in one.rewards if r.span is None]
        )
        for one in runs
    ]


@settings(max_examples=12)
@given(runs=meetings(), random=st.randoms(use_true_random=False), shift=st.floats(-100, 100))
def test_where_rollouts_meet_order_names_of_tools_and_constants_change_nothing(
    runs: Runs, random: Any, shift: float
) -> None:
    found = _scored_all(runs)
    _all_alike(found, _scored_all(renamed(runs, {"look": "zz", "book": "aa"})), {})
    plain = _scored_all(_plain(runs, lambda group: 0.0))
    moved = _scored_all(_plain(runs, lambda group: shift if group == "x" else 2 * shift))
    _all_alike(plain, moved, {**NO_BASELINE, **DISCOUNTED})
    random.shuffle(runs)
    _all_alike(found, _scored_all(runs), BY_ORDER)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_forecast_of_a_run_ever_rests_on_its_own_outcome(kind: str) -> None:
    batch, filled = _variant("plain")
    before = filled[kind] if kind in filled else fill(batch, kind)
    changed = _told([rewarded(one, 1 - one.rewards[0].value) if one.id == "run-3-0" else one for one in world()])
    after = fill(changed, kind)
    t = batch.trajectory_ids.index("run-3-0")
    own = slice(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
    for column in ("advantage_forecast", "values", "q_values"):
        left, right = getattr(before, column), getattr(after, column)
        np.testing.assert_allclose(left[own], right[own], atol=1e-12, err_msg=column)
        assert not np.array_equal(left, right, equal_nan=True), f"{column}: nobody else learnt of it"


def _runs(*stories: tuple[str, float | None], **given: Any) -> Runs:
    return [told(story, outcome, name=f"h{n}", **given) for n, (story, outcome) in enumerate(stories)]


ODD: Mapping[str, Runs] = {
    "nobody": [],
    "one action": [run("a", 1.0, name="t")],
    "nothing but a request": [run("u", 1.0, name="t"), run("ua", 0.0, name="s")],
    "an empty run": [run("", 1.0, name="t"), run("ua", 0.0, name="s")],
    "no reward": _runs(("u c1 r:x a", None), ("u a", None)),
    "some rewards": _runs(("u c1 r:x b1 r:ok a", 1.0), ("u c2 r:y a", None), ("u t c1 r:x a", 0.0)),
    "all alike": _runs(("u c1 r:x a", 0.1), ("u c2 r:y a", 0.1), ("u t a", 0.1)),
    "each alone": [one for n in range(3) for one in group_of(float(n), group=f"g{n}")],
    "huge": _runs(("u c1 r:x b1 r:ok a", 2.0**52), ("u c1 r:x b2 r:ok a", -(2.0**52)), ("u a", 0.0)),
    "tiny": _runs(("u c1 r:x b1 r:ok a", 1e-300), ("u c1 r:x b2 r:ok a", -1e-300), ("u a", 0.0)),
    "nearly alike": _runs(("u c1 r:x a", 1.0), ("u c2 r:x a", float(np.nextafter(1.0, 2.0))), ("u a", 1.0)),
    "orphans and questions": _runs(("r:x u a u:more c1 c1 r:y r:x", 1.0), ("u t t a t", 0.0)),
    "rewards on the way": [
        told("u c1 r:x b1 r:ok a", name="p", rewards={1: 0.5, 4: -1.0}),
        told("u b1 r:ok", name="q", rewards={2: 2.0}),
    ],
    "many alike": _runs(*((f"u c{n % 2} r:x b{n % 3} r:ok a", float(n % 2)) for n in range(20))),
    "cut off": [run("ucra", 1.0, name="t", truncated=True), run("ucra", 0.0, name="s")],
}


@every
@pytest.mark.parametrize("which", ODD)
def test_odd_batches_are_scored_throughout_and_explained(name: str, which: str) -> None:
    batch, made = _told(_answered(list(ODD[which]))), ATTRIBUTORS[name]()
    found = scored(batch, name, made, CRITIC.get(name))
    mine = batch.action_mask & np.repeat(~np.isnan(batch.outcome), np.diff(batch.span_offsets))
    if name in UNSCORED_WHERE_CUT and which == "cut off":
        mine &= np.repeat(~batch.truncated, np.diff(batch.span_offsets))
    for column in (found.credit, found.advantage):
        assert np.isnan(column[~mine]).all()
        assert np.isfinite(column[mine]).all()
    for span in range(min(batch.n_spans, 12)):
        explained(found, made, span)
