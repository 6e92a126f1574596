"""The real GRPOTrainer, one step on CPU with a tiny random model: it trains on our numbers, token by token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.build import batch_of, run
from tests.exporters.token_rows import token_row
from tests.integrations.files import written
from trajcredit.attributors import Grpo
from trajcredit.exporters.trl import Trl
from trajcredit.integrations.trl import Rows, TokenAdvantages, outcome

pytestmark = pytest.mark.interop

OUTCOMES = [0.0, 1.0, 2.0, 3.0, 1.0, 0.5]
ROWS = [
    token_row([7, 8], [11, 12, 21, 22, 13], [1, 1, 0, 0, 1], [0.5, 0.5, 0, 0, -0.25], trajectory="0"),
    token_row([7], [11, 12], [1, 1], [1.5, 1.5], trajectory="1"),
    token_row([7, 8, 9], [21, 12], [0, 1], [0, -2.0], trajectory="2"),
    token_row([7, 8], [11, 12, 13], [1, 1, 1], [0.25, 0.0, 0.0], trajectory="3"),
    token_row([7, 8], [11, 21, 13], [1, 0, 1], [-1.0, 0, 0.75], trajectory="4"),
    token_row([9], [14], [1], [0.125], trajectory="5"),
]


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One step over six rows, four a prompt: what was logged, what reached the loss, the weights before and after."""
    pytest.importorskip("trl", reason="trl is not installed")
    from dataclasses import replace

    from datasets import Dataset
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    folder: Path = tmp_path_factory.mktemp("trl")
    torch.manual_seed(0)
    words = {"<pad>": 0, "<eos>": 1} | {f"w{k}": k for k in range(2, 32)}
    spelled = Tokenizer(WordLevel(words, unk_token="<pad>"))
    spelled.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=spelled, pad_token="<pad>", eos_token="<eos>")
    config = LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    recorded = [replace(row, outcome=score) for row, score in zip(ROWS, OUTCOMES, strict=True)]
    rows = Rows(written(Trl(), folder, *recorded), num_generations=4)
    seen: dict[str, Any] = {"filled": rows.filled}

    class Trainer(TokenAdvantages, GRPOTrainer):  # type: ignore[misc]  # trl has no types here
        def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
            seen["inputs"] = {name: value.clone() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
            return super()._compute_loss(model, inputs)

    trainer = Trainer(
        model=model,
        reward_funcs=outcome,
        args=GRPOConfig(
            output_dir=str(folder),
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            per_device_train_batch_size=8,
            num_generations=4,
            max_steps=1,
            logging_steps=1,
            learning_rate=1e-2,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_list(rows.dataset()),
        processing_class=tokenizer,
        rollout_func=rows.rollout,
    )
    before = {name: tensor.detach().clone() for name, tensor in model.named_parameters()}
    trainer.train()
    seen["before"], seen["after"] = before, dict(model.named_parameters())
    seen["loss"] = next(entry["loss"] for entry in trainer.state.log_history if "loss" in entry)
    seen["sequence_advantages"] = list(trainer._logs["advantages"])
    seen["prompts"] = list(trainer._logs["prompt"])
    return seen


def by_ids(inputs: dict[str, Any]) -> dict[tuple[int, ...], list[float]]:
    """Advantages of each trained row of the batch, by its completion."""
    found = {}
    for ids, there, trained, advantages in zip(
        inputs["completion_ids"], inputs["completion_mask"], inputs["tool_mask"], inputs["advantages"], strict=True
    ):
        length = int(there.sum())
        assert not advantages[length:].any()
        if (there * trained).any():
            found[tuple(ids[:length].tolist())] = advantages[:length].tolist()
    return found


def test_the_loss_sees_our_advantage_on_every_token(step: dict[str, Any]) -> None:
    assert step["filled"] == 2
    assert step["inputs"]["advantages"].shape == (8, 5)
    assert by_ids(step["inputs"]) == {tuple(row.response_ids.tolist()): row.advantages.tolist() for row in ROWS}


def test_the_logged_loss_is_minus_the_masked_mean_of_our_advantages(step: dict[str, Any]) -> None:
    total = sum(float(row.advantages.sum()) for row in ROWS)
    trained = sum(row.trained for row in ROWS)
    assert (total, trained) == (1.875, 12)
    assert step["loss"] == pytest.approx(-total / trained, abs=1e-6)


def test_the_weights_move(step: dict[str, Any]) -> None:
    moved = [name for name, tensor in step["after"].items() if not torch.equal(tensor, step["before"][name])]
    assert "lm_head.weight" in moved


def test_trls_own_group_advantages_are_those_of_our_flavour(step: dict[str, Any]) -> None:
    first = [a for a, prompt in zip(step["sequence_advantages"], step["prompts"], strict=True) if prompt == "0"]
    ours = Grpo("trl")(batch_of(*(run("a", score) for score in OUTCOMES[:4]))).advantage
    np.testing.assert_allclose(first, ours, atol=2e-6)
