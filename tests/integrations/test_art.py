"""ART: a trajectory cut into its turns, each with its own reward.

Its package does not install beside ours: Trajectory and TrajectoryGroup here have the fields of art/trajectories.py
(openpipe-art 0.5.18) that the plug-in uses.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.exporters.token_rows import two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.art import Art
from trajcredit.integrations.art import groups


class Trajectory(SimpleNamespace):
    def messages(self):
        return [item if isinstance(item, dict) else item.message for item in self.messages_and_choices]


@pytest.fixture(autouse=True)
def art(monkeypatch):
    stand_in = SimpleNamespace(Trajectory=Trajectory, TrajectoryGroup=lambda trajectories: trajectories)
    monkeypatch.setitem(sys.modules, "art", stand_in)


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "a.jsonl").open("wb") as out:
        Art().encode(iter([two_turns()]), out)
    return tmp_path / "a.jsonl"


def choice(text, *tokens):
    """As openai's Choice, with the tokens that ART trains in its log-probs."""
    content = [SimpleNamespace(token=token, logprob=-1.0) for token in tokens]
    message = {"role": "assistant", "content": text}
    return SimpleNamespace(message=message, logprobs=SimpleNamespace(content=content) if tokens else None)


ASKED = {"role": "user", "content": "book it"}
FOUND = {"role": "tool", "content": "LHR", "tool_call_id": "1"}


def live(*choices, histories=()):
    between = [ASKED, choices[0], FOUND, *choices[1:]]
    return Trajectory(messages_and_choices=between, tools=["search"], additional_histories=histories, metadata={"m": 1})


FIRST, SECOND = choice("search", "token_id:11", "token_id:12"), choice("done", "token_id:13")


def test_one_trajectory_a_turn_and_an_anchor(path) -> None:
    [group] = groups(path, {"t": live(FIRST, SECOND)})
    assert [(made.messages_and_choices, made.reward) for made in group] == [
        ([ASKED, FIRST], 0.5),
        ([ASKED, FIRST.message, FOUND, SECOND], -0.25),
        ([ASKED], -0.25),
    ]
    assert {(tuple(made.tools), made.metadata["m"]) for made in group} == {(("search",), 1)}
    mean = sum(made.reward for made in group) / len(group)
    assert [made.reward - mean for made in group[:2]] == [0.5, -0.25]


def test_tokens_as_text_can_only_be_counted(path) -> None:
    [group] = groups(path, {"t": live(choice("search", "sea", "rch"), choice("done", "done"))})
    assert [made.reward for made in group] == [0.5, -0.25, -0.25]


@pytest.mark.parametrize(
    ("trajectory", "what"),
    [
        pytest.param(live(FIRST), "t: 2 turns were exported, it has 1", id="another number of turns"),
        pytest.param(live(SECOND, FIRST), "t, turn 0: the choice has other tokens", id="another order"),
        pytest.param(
            live(FIRST, choice("done", "token_id:14")), "t, turn 1: the choice has other tokens", id="other ids"
        ),
        pytest.param(live(FIRST, choice("done")), "t, turn 1: the choice has no logprobs", id="ART would not train it"),
        pytest.param(live(FIRST, SECOND, histories=[1]), "additional_histories", id="several histories"),
    ],
)
def test_a_trajectory_that_is_not_the_one_exported_is_refused(path, trajectory, what) -> None:
    with pytest.raises(InputError, match=what):
        list(groups(path, {"t": trajectory}))


def test_an_anchor_that_does_not_fit_its_turns_is_refused(path) -> None:
    path.write_text(path.read_text().replace('"anchor_reward":-0.25', '"anchor_reward":0.25'))
    with pytest.raises(InputError, match=r"a\.jsonl:1: the anchor is not minus the sum"):
        list(groups(path, {"t": live(FIRST, SECOND)}))


def test_a_trajectory_that_was_not_given_is_named_with_its_line(path) -> None:
    with pytest.raises(InputError, match=r"a\.jsonl:1: no trajectory 't' was given"):
        list(groups(path, {}))
