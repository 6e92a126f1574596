"""Drift: silence on more of the same, an alarm on other tools, other words, other outcomes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from tests.build import batch_of
from tests.critics.worlds import ask, call, desk, got, renamed, renumbered, rewarded, say, told
from trajcredit.arrays import F64
from trajcredit.batching import decisions
from trajcredit.critics import FittedCritic, fit
from trajcredit.critics.drift import FIGURES, _reach, alarms, measured, tools_left_out
from trajcredit.critics.frames import described
from trajcredit.critics.members import members_of
from trajcredit.model import Trajectory

Runs = Sequence[Trajectory]


@pytest.fixture(scope="module")
def critic() -> FittedCritic:
    return fit(batch_of(*desk(groups=16)), "compatible")


def warned(critic: FittedCritic, runs: Runs) -> list[str]:
    return [note.message for note in critic.fill(batch_of(*runs)).notes if note.code == "critic-drift"]


def reworded(runs: Runs, letters: dict[str, str]) -> list[Trajectory]:
    """The same runs, results and arguments in other words."""

    def other(value: object) -> object:
        text = re.sub("|".join(letters), lambda found: letters[found[0]], msgspec.json.encode(value).decode())
        return msgspec.json.decode(text)

    replaced = msgspec.structs.replace
    return [
        replaced(
            one,
            spans=[replaced(s, text=str(other(s.text)), arguments=other(s.arguments)) for s in one.spans],
        )
        for one in runs
    ]


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("groups", [1, 12])
def test_more_of_the_same_raises_no_alarm(critic: FittedCritic, groups: int, seed: int) -> None:
    assert not warned(critic, renumbered(desk(groups=groups, seed=seed), "new"))


def test_tools_it_does_not_know_raise_one(critic: FittedCritic) -> None:
    new = renamed(renumbered(desk(groups=6, seed=1), "new"), {"note": "memo"})
    first, *_ = warned(critic, new)
    assert first == (
        "the critic was fitted to other data (tools book, look, note, pick): 33.3% of the calls are of tools new to "
        "it; at most 2.0% was to be expected"
    )


def test_other_words_of_results_and_fields_raise_one(critic: FittedCritic) -> None:
    words = {"seats": "places", "kind": "sort", "ok": "fine", "noted": "written", "about": "of", "to": "into"}
    found = warned(critic, reworded(renumbered(desk(groups=6, seed=1), "new"), words))
    assert any(re.search(r"\d\d\.\d% of what there is to say of choices and states is new to it", one) for one in found)


def test_outcomes_that_rise_raise_one(critic: FittedCritic) -> None:
    new = renumbered(desk(groups=12, seed=1, wrong=0.0), "new")
    assert any("the mean outcome of a task is 1; between" in one for one in warned(critic, new))


def test_choices_that_now_do_the_opposite_raise_one(critic: FittedCritic) -> None:
    new = [rewarded(one, 1 - one.rewards[0].value) for one in renumbered(desk(groups=12, seed=1), "new")]
    assert any(re.search(r"outcomes rise by -\d\.\d\d where forecasts do by 1", one) for one in warned(critic, new))


def test_what_it_was_fitted_to_is_no_drift_also_where_one_task_is_odd(critic: FittedCritic) -> None:
    new = [*desk(groups=16), *renamed(renumbered(desk(groups=1, seed=1), "new"), {"note": "memo"})]
    assert len(warned(critic, new)) >= 1, "only what is new is looked at, and of it all"
    assert not warned(critic, desk(groups=16))


def test_figures_by_hand() -> None:
    runs = [
        told(ask(""), call("look", {}), got(""), call("pick", {}), got(""), say("y"), outcome=1.0, name="a", group="g"),
        told(ask("x"), call("look", {}), got("ok"), say("y"), outcome=0.0, name="b", group="g"),
        told(ask("x"), call("look", {}), got("ok"), call("odd", {}), got(""), outcome=None, name="c", group="h"),
        told(ask("x"), say("y"), outcome=0.5, name="d", group="i"),
    ]  # fmt: skip
    batch = batch_of(*runs)
    members = members_of(batch, decisions(batch), np.arange(4))
    alone, tools = tools_left_out(members)
    assert alone == [False, True, False, False, False, False, True, False]  # no other group picks, or does what is odd
    assert tools == {"look", "pick", "odd"}
    _, description = described(members.stories, members.groups)
    advantage = np.array([0.25, 0.5, 0.0, 0.25, 0.0, 9.0, 9.0, 9.0])
    found = measured(members, description, advantage, alone)
    assert found.shape == (3, len(FIGURES))
    np.testing.assert_allclose(found[:, 0], [1 / 3, 1 / 2, np.nan])  # of three calls one; of two; no calls
    np.testing.assert_allclose(found[:, 2], [0.5, np.nan, 0.5])
    # group g: forecasts 0.75 and 0.25, less the sibling's 0.5 and -0.5; outcomes less the sibling's 1 and -1
    np.testing.assert_allclose(found[:, 3], [0.5, 0, 0])
    np.testing.assert_allclose(found[:, 4], [0.5 * 0.5 + 0.5 * 0.5, 0, 0])
    np.testing.assert_allclose(found[:, 1], 1.0)  # three groups share nothing once one is left out


def figures(**columns: Sequence[float]) -> F64:
    n = len(next(iter(columns.values())))
    return np.stack(
        [np.array(columns.get(name, [np.nan if name in FIGURES[:3] else 0.0] * n)) for name in FIGURES], axis=1
    )


def test_the_limit_of_a_share_by_hand() -> None:
    # mean 0.2, spread 0.1 of 4 groups; Student's t with 3 degrees at one of a thousand, by its expansion
    fitted = figures(tools=[0.1, 0.3, 0.1, 0.3])
    spread = (4 * 0.01 / 3) ** 0.5
    limit = 0.2 + _reach(3) * spread * (1 + 1 / 4) ** 0.5
    assert not list(alarms(fitted, figures(tools=[limit - 1e-9]), "p"))
    [note] = alarms(fitted, figures(tools=[limit + 1e-9]), "p")
    assert note.message.endswith(
        f"{limit:.1%} of the calls are of tools new to it; at most {limit:.1%} was to be expected"
    )


def test_few_groups_say_nothing_and_small_shares_are_no_drift() -> None:
    assert not list(alarms(figures(tools=[0.0, 0.0]), figures(tools=[1.0]), "p")), (
        "two groups have no spread to speak of"
    )
    assert not list(alarms(figures(tools=[0.0] * 9), figures(tools=[0.019]), "p"))
    assert list(alarms(figures(tools=[0.0] * 9), figures(tools=[0.021]), "p"))
    assert not list(alarms(figures(tools=[0.0] * 9), figures(tools=[np.nan]), "p")), "no calls at all"
    assert not list(alarms(figures(outcome=[0.0] * 3), np.zeros((0, 5)), "p"))


def test_the_reach_of_t() -> None:
    assert _reach(10**6) == pytest.approx(3.29, abs=1e-4)
    assert _reach(39) == pytest.approx(3.558, abs=0.02)  # Student's t, 39 degrees, 0.0005 in each tail
    assert _reach(7) == pytest.approx(5.41, abs=0.3)
