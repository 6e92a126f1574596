"""rLLM's own steps get their lists, and only theirs."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.exporters.token_rows import two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.rllm import Rllm
from trajcredit.integrations.rllm import assign, episodes


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "a.jsonl").open("wb") as out:
        Rllm().encode(iter([two_turns()]), out)
    return tmp_path / "a.jsonl"


def live(*responses, uid="t"):
    """As rLLM's Trajectory and Step (types.py) hold a rollout before it is scored."""
    return SimpleNamespace(
        uid=uid, steps=[SimpleNamespace(response_ids=list(ids), advantage=None) for ids in responses]
    )


def test_each_step_gets_one_number_a_sampled_token(path) -> None:
    trajectory = live([11, 12], [13])
    assert assign(path, [trajectory]) == 2
    assert [step.advantage for step in trajectory.steps] == [[0.5, 0.5], [-0.25]]
    assert all(isinstance(value, float) for step in trajectory.steps for value in step.advantage)


@pytest.mark.parametrize(
    ("trajectory", "what"),
    [
        pytest.param(live([11, 12], [13], uid="u"), "has no advantages of trajectory 'u'", id="not exported"),
        pytest.param(live([11, 12]), "2 steps; trajectory 't' has 1", id="another number of steps"),
        pytest.param(live([11, 12], [14]), "step 1 has other response_ids", id="another response"),
    ],
)
def test_numbers_of_other_tokens_are_refused(path, trajectory, what) -> None:
    with pytest.raises(InputError, match=what):
        assign(path, [trajectory])


def test_lists_that_do_not_fit_are_refused_with_their_line(path) -> None:
    path.write_text(path.read_text().replace("[0.5,0.5]", "[0.5]"))
    with pytest.raises(InputError, match=r"a\.jsonl:1, step 0 of t: lists of one length"):
        assign(path, [live([11, 12], [13])])


def test_without_rllm_the_episodes_cannot_be_made(path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "rllm.types", None)
    with pytest.raises(InputError, match="this plug-in needs rllm"):
        next(episodes(path))
