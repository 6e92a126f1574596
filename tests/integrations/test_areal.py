"""AReaL: settings that would change the advantages, and rewards that reach the right interaction."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.areal import Areal
from trajcredit.integrations.areal import ACTOR, check_actor, interactions, rewards_of, tensors


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "a.jsonl").open("wb") as out:
        Areal().encode(iter([two_turns(), token_row([9], [5], [1], [3.0], trajectory="u")]), out)
    return tmp_path / "a.jsonl"


def actor(**settings):
    """As PPOActorConfig (areal 1.0.4, api/cli_args.py:1454) with what has to be set."""
    return SimpleNamespace(**{**ACTOR, "reward_clip": 20.0, **settings})


def test_the_settings_that_pass() -> None:
    check_actor(actor(), largest=20.0)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        pytest.param({"kl_ctl": 0.1}, r"kl_ctl=0\.1 \(expected 0\.0\)", id="AReaL's own default adds a penalty"),
        pytest.param({"adv_norm": object(), "discount": 0.99}, "adv_norm=.*, discount=0.99", id="each is named"),
        pytest.param({"reward_clip": 1.0}, r"reward_clip=1\.0 \(expected 5 or more\)", id="it would be cut"),
        pytest.param({"mask_no_eos_with_zero": True}, "mask_no_eos", id="rows of full length would lose their reward"),
    ],
)
def test_a_setting_that_changes_advantages_is_named(settings, what) -> None:
    with pytest.raises(InputError, match=what):
        check_actor(actor(**settings), largest=5.0)


def test_rewards_go_to_the_interactions_with_the_same_tokens(path) -> None:
    scored = interactions(path)
    assert list(scored) == ["t", "u"]
    assert rewards_of(scored["t"], {"chat-1": [11, 12], "chat-2": [13]}) == {"chat-1": 0.5, "chat-2": -0.25}


@pytest.mark.parametrize(
    ("responses", "what"),
    [
        pytest.param({"chat-1": [11, 12]}, "2 interactions were exported and 1 are given", id="a turn is missing"),
        pytest.param({"chat-2": [13], "chat-1": [11, 12]}, r"interaction 0 \(chat-2\) has other", id="another order"),
    ],
)
def test_rewards_of_other_turns_are_refused(path, responses, what) -> None:
    with pytest.raises(InputError, match=what):
        rewards_of(interactions(path)["t"], responses)


def test_a_line_whose_reward_areal_would_drop_is_refused(path) -> None:
    path.write_text(path.read_text().replace('"loss_mask":[0,0,1,1]', '"loss_mask":[0,1,1,0]'))
    with pytest.raises(InputError, match=r"a\.jsonl:1: the last token is not sampled"):
        interactions(path)


def test_tensors_are_those_of_an_interaction(path) -> None:
    torch = pytest.importorskip("torch")
    [first, _] = interactions(path)["t"]
    got = tensors(first)
    assert {name: tuple(tensor.shape) for name, tensor in got.items()} == {
        "input_ids": (1, 4),
        "loss_mask": (1, 4),
        "logprobs": (1, 4),
        "versions": (1, 4),
        "attention_mask": (1, 4),
        "rewards": (1,),
    }
    assert got["attention_mask"].dtype == torch.bool
    assert (got["loss_mask"].tolist(), got["rewards"].tolist()) == ([[0, 0, 1, 1]], [0.5])


def test_tensors_need_what_the_log_lacks(path) -> None:
    [record] = interactions(path)["u"]
    with pytest.raises(InputError, match="u, turn 0: the log has no logprobs, which AReaL needs"):
        tensors(record)
