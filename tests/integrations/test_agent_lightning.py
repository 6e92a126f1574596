"""Agent Lightning: the adapter's scores are our numbers, float32, on the tokens that the trainer kept.

Its packages do not install beside ours: the base class here gives what verl/rollout_adapter.py (c632d8dd) gives of two
transitions, scores in bfloat16 on the last token included.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.exporters.token_rows import token_row
from trajcredit.errors import InputError
from trajcredit.exporters.agent_lightning import AgentLightning
from trajcredit.integrations.agent_lightning import adapter, exported, scores
from trajcredit.tokens import OwnedTokens

torch = pytest.importorskip("torch")


class Base:
    """`responses` right-padded to R with the id 0, prompts left-padded to P."""

    max_response_length = 4
    device = "cpu"
    trace_aggregator_level = "transition"

    def get_train_data_batch(self, completed_rollouts, *, global_steps=0):
        tensors = {
            "responses": torch.tensor([[13, 0, 0, 0], [11, 12, 0, 15]]),
            "attention_mask": torch.tensor([[1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 1, 1]]),
            "token_level_scores": torch.zeros(2, 4, dtype=torch.bfloat16),
        }
        names = {"rollout_id_list": np.array(["t", "t"]), "turn_index_list": np.array([1, 0])}
        return SimpleNamespace(batch=tensors, non_tensor_batch=names), {"training/n_sample": 2, "step": global_steps}


@pytest.fixture
def path(tmp_path):
    spans = [OwnedTokens(0, 0, 0, 2, 0.1), OwnedTokens(1, 0, 2, 5, -0.3), OwnedTokens(3, 1, 6, 7, 0.7)]
    mask, values = [1] * 5 + [0, 1], [0.1] * 2 + [-0.3] * 3 + [0, 0.7]
    row = token_row([7, 8], [11, 12, 0, 15, 16, 21, 13], mask, values, spans=spans)
    with (tmp_path / "a.jsonl").open("wb") as out:
        AgentLightning().encode(iter([row]), out)
    return tmp_path / "a.jsonl"


@pytest.fixture
def base(monkeypatch):
    monkeypatch.setitem(sys.modules, "agentlightning.verl.rollout_adapter", SimpleNamespace(RolloutAdapter=Base))
    return Base


def test_scores_are_float32_advantages_whatever_the_padding_id_is(path, base) -> None:
    asked = []

    def score(rollouts):
        asked.append(rollouts)
        return path

    made = adapter(score)()
    batch, metrics = made.get_train_data_batch(["the rollouts"], global_steps=5)
    got = batch.batch["token_level_scores"]
    assert (got.dtype, asked, metrics["step"]) == (torch.float32, [["the rollouts"]], 5)
    expected = np.array([[0.7, 0, 0, 0], [0.1, 0.1, -0.3, -0.3]], dtype=np.float32)
    np.testing.assert_array_equal(got.numpy(), expected)


def test_merged_rows_have_no_turn_to_look_up(path, base) -> None:
    made = adapter(lambda rollouts: path)()
    made.trace_aggregator_level = "trajectory"
    with pytest.raises(InputError, match=r"trace_aggregator\.level is 'trajectory': expected 'transition'"):
        made.get_train_data_batch([])


@pytest.mark.parametrize(
    ("rollout", "turn", "ids", "what"),
    [
        pytest.param("u", 0, [11], "turn 0 of rollout 'u' was not exported", id="not exported"),
        pytest.param("t", 1, [11], "turn 1 of rollout 't' has other response tokens", id="other tokens"),
        pytest.param("t", 1, [13, 14], "turn 1 of rollout 't' has other response tokens", id="more tokens"),
    ],
)
def test_numbers_of_other_tokens_are_refused(path, rollout, turn, ids, what) -> None:
    with pytest.raises(InputError, match=what):
        scores(exported(path), rollout, turn, ids, 4)


def test_a_line_that_does_not_fit_is_named(path) -> None:
    path.write_text(path.read_text().replace('"token_ids":[13]', '"token_ids":[13,14]'))
    with pytest.raises(InputError, match=r"a\.jsonl:2: lists of one length"):
        exported(path)


def test_without_agent_lightning_it_says_what_to_install(path) -> None:
    with pytest.raises(InputError, match="this plug-in needs agentlightning"):
        adapter(lambda rollouts: path)
