"""The real Tinker client: a Datum holds our numbers at the tokens they train."""

from __future__ import annotations

import pytest

from tests.exporters.token_rows import token_row, two_turns
from trajcredit.exporters.tinker import Tinker
from trajcredit.integrations.tinker import datums, for_loss

pytestmark = pytest.mark.interop


@pytest.fixture
def made(tmp_path):
    pytest.importorskip("tinker", reason="tinker is not installed")
    with (tmp_path / "a.jsonl").open("wb") as out:
        Tinker().encode(iter([two_turns(), token_row([7], [1], [1], [0.1], logprobs=[-0.3])]), out)
    return list(datums(tmp_path / "a.jsonl"))


def inputs(datum):
    return {name: (data.dtype, list(data.shape or []), data.tolist()) for name, data in datum.loss_fn_inputs.items()}


def test_a_datum_predicts_the_next_token_and_has_its_number_beside_it(made) -> None:
    first, _ = made
    assert first.model_input.to_ints() == [7, 8, 11, 12, 21, 22, 23]
    got = inputs(first)
    assert got["target_tokens"][::2] == ("int64", [8, 11, 12, 21, 22, 23, 13])
    assert got["advantages"][::2] == ("float32", [0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25])
    assert got["logprobs"][::2] == ("float32", [0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75])
    assert got["mask"][::2] == ("float32", [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])


def test_numbers_reach_the_tensors_as_the_file_has_them(made) -> None:
    _, second = made
    [advantage] = second.loss_fn_inputs["advantages"].to_numpy()
    assert advantage == pytest.approx(0.1, abs=1e-8)
    assert advantage.dtype == "float32"


def test_the_loss_gets_everything_but_the_mask(made) -> None:
    first, _ = made
    without = for_loss(first)
    assert set(without.loss_fn_inputs) == {"target_tokens", "logprobs", "advantages"}
    assert without.model_input == first.model_input
    assert "mask" in first.loss_fn_inputs
