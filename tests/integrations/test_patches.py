"""slime's hooks and OpenRLHF's patches on objects that have what theirs have; the trainers themselves need GPUs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from tests.exporters.token_rows import token_row, two_turns
from tests.integrations.files import written
from trajcredit.errors import InputError
from trajcredit.exporters.openrlhf import OpenRlhf
from trajcredit.exporters.slime import Slime
from trajcredit.integrations import openrlhf, slime

# ---------------------------------------------------------------- slime


def sample(advantages: list[float] | None, mask: list[int] | None = None, length: int = 3) -> Any:
    metadata = {} if advantages is None else {slime.KEY: advantages}
    return SimpleNamespace(
        index=4, metadata=metadata, response_length=length, loss_mask=mask, get_reward_value=lambda args: 1
    )


def test_slimes_numbers_go_from_samples_through_rewards_to_advantages() -> None:
    samples = [sample([0.5, 0.0, -0.25], [1, 0, 1]), sample([0.75] * 3)]
    raw, lists = slime.rewards(None, samples)
    assert raw == [1.0, 1.0]
    data: dict[str, Any] = {"rewards": lists, "response_lengths": [3, 3], "kl": [torch.zeros(3), torch.zeros(3)]}
    slime.advantages(None, data)
    expected = [[0.5, 0.0, -0.25], [0.75, 0.75, 0.75]]
    assert [one.tolist() for one in data["advantages"]] == expected
    assert [one.tolist() for one in data["returns"]] == expected
    assert {one.dtype for one in data["advantages"]} == {torch.float32}


def test_what_slime_logs_of_rewards_can_be_averaged() -> None:
    # train_metric_utils.py joins tensors, and adds up lists, which fails
    _, lists = slime.rewards(None, [sample([0.5, 0.0, -0.25])])
    assert torch.cat(lists).mean().item() == pytest.approx(0.25 / 3)


@pytest.mark.parametrize(
    ("one", "message"),
    [
        pytest.param(sample(None), r"sample 4 carries no metadata\['trajcredit_advantages'\]", id="no numbers"),
        pytest.param(sample([0.5]), "sample 4: 1 advantages for 3 tokens", id="too few"),
        pytest.param(sample([0, 0.5, 0], [1, 0, 1]), "sample 4: token 1 has advantage 0.5", id="on an observation"),
    ],
)
def test_samples_whose_numbers_do_not_fit_are_refused(one: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        slime.rewards(None, [one])


def test_a_reward_where_a_list_is_due_names_the_missing_hook() -> None:
    data = {"rewards": [1.0], "response_lengths": [3], "kl": [torch.zeros(3)]}
    with pytest.raises(InputError, match="--custom-reward-post-process-path"):
        slime.advantages(None, data)


@pytest.fixture
def slime_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two modules of slime that `replay` makes its answer with (rollout/base_types.py, utils/types.py)."""

    class Sample(SimpleNamespace):
        Status = SimpleNamespace(COMPLETED="completed")

    made: dict[str, dict[str, Any]] = {
        "slime.rollout.base_types": {"RolloutFnTrainOutput": SimpleNamespace},
        "slime.utils.types": {"Sample": Sample},
    }
    for name in ("slime", "slime.rollout", "slime.utils", *made):
        module = ModuleType(name)
        vars(module).update(made.get(name, {}))
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("slime_package")
def test_slime_replays_groups_and_counts_a_trajectory_once(tmp_path: Path) -> None:
    rows = [
        token_row([7], [11], [1], [0.5], trajectory=name, row=row, uid=uid, outcome=2.0)
        for name, row, uid in [("a", 0, "g"), ("a", 1, "g"), ("b", 0, "h"), ("c", 0, "g")]
    ]
    path = written(Slime(), tmp_path, *rows, token_row([7], [11], [1], [0.5], trajectory="d", uid="i"))
    args = SimpleNamespace(trajcredit_rows=str(path), rollout_batch_size=2)
    got = slime.replay(args, 0, None).samples
    assert [[one.rollout_id for one in group] for group in got] == [[0, 0, 2], [1]]
    first = got[0][0]
    assert (first.tokens, first.response_length, first.loss_mask, first.reward) == ([7, 11], 1, [1], 2.0)
    assert first.metadata == {"trajcredit_advantages": [0.5]}
    with pytest.raises(InputError, match="has 3 groups, and rollout 1 wants those from 2 to 4: set num_rollout to 1"):
        slime.replay(args, 1, None)
    with pytest.raises(InputError, match="cannot be evaluated"):
        slime.replay(args, 0, None, evaluation=True)


# ---------------------------------------------------------------- OpenRLHF


def answered(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    other = token_row([9], [14, 15], [0, 1], [0.0, 2.0], trajectory="u")
    replay = openrlhf.Replay(written(OpenRlhf(), folder, two_turns(), other))
    assert replay.labels() == ["t#0", "u#0"]
    return replay.answer("p", "t#0"), replay.answer("q", "u#0")


class Generator:
    """As SamplesGenerator._process_response_into_experience (samples_generator.py:253-275)."""

    def _process_response_into_experience(self, response: dict[str, Any], **options: Any) -> Any:
        cut = options.get("max_len", 2048)
        tokens = torch.tensor(response["observation_tokens"])
        mask = torch.zeros_like(tokens)
        for start, end in response["action_ranges"]:
            mask[start:end] = 1
        logprobs = response["rollout_log_probs"]
        return SimpleNamespace(
            sequences=tokens[:cut].unsqueeze(0),
            action_mask=mask[1:cut].unsqueeze(0),
            rollout_log_probs=None if logprobs is None else torch.tensor(logprobs[1:cut]).unsqueeze(0),
            advantages=None,
        )


class Maker:
    """As RemoteExperienceMaker.compute_advantages_and_returns: numbers of its own."""

    def compute_advantages_and_returns(self, experiences: list[Any]) -> list[Any]:
        for experience in experiences:
            experience.advantages = torch.full(experience.action_mask.shape, 9.0)
            experience.kl = None
        return experiences


@pytest.fixture
def patched() -> tuple[Any, Any]:
    generator, maker = type("G", (Generator,), {}), type("M", (Maker,), {})
    openrlhf.patch_generator(generator)
    openrlhf.patch_maker(maker)
    return generator(), maker()


def test_an_answer_marks_what_was_sampled(tmp_path: Path) -> None:
    answer, other = answered(tmp_path)
    assert answer["observation_tokens"] == [7, 8, 11, 12, 21, 22, 23, 13]
    assert answer["action_ranges"] == [(2, 4), (7, 8)]
    assert answer["rollout_log_probs"] == [0.0, 0.0, -0.5, -1.5, 0.0, 0.0, 0.0, -0.75]
    assert (other["action_ranges"], other["rollout_log_probs"]) == ([(2, 3)], None)


def test_openrlhf_keeps_our_advantages(patched: tuple[Any, Any], tmp_path: Path) -> None:
    generator, maker = patched
    experiences = [generator._process_response_into_experience(answer) for answer in answered(tmp_path)]
    assert experiences[0].action_mask.tolist() == [[0, 1, 1, 0, 0, 0, 1]]
    made = maker.compute_advantages_and_returns(experiences)
    assert [one.advantages.tolist() for one in made] == [[[0, 0.5, 0.5, 0, 0, 0, -0.25]], [[0, 2.0]]]
    assert [one.returns.tolist() for one in made] == [[[0, 0.5, 0.5, 0, 0, 0, -0.25]], [[0, 2.0]]]
    assert made[0].kl is None


def test_a_cut_answer_keeps_what_is_left(patched: tuple[Any, Any], tmp_path: Path) -> None:
    experience = patched[0]._process_response_into_experience(answered(tmp_path)[0], max_len=4)
    assert experience.advantages.tolist() == [[0, 0.5, 0.5]]


@pytest.mark.parametrize(
    ("advantages", "message"),
    [
        pytest.param(..., "carries no 'advantages'", id="none"),
        pytest.param([0.5], "1 advantages for 7 places", id="too few"),
        pytest.param([0.5, 0, 0, 0, 0, 0, 0], "token 0 has advantage 0.5 and mask 0", id="not shifted"),
    ],
)
def test_answers_whose_numbers_do_not_fit_are_refused(
    advantages: Any, message: str, patched: tuple[Any, Any], tmp_path: Path
) -> None:
    answer = answered(tmp_path)[0] | {"advantages": advantages}
    if advantages is ...:
        del answer["advantages"]
    with pytest.raises(InputError, match=message):
        patched[0]._process_response_into_experience(answer)


def test_an_experience_from_an_unpatched_generator_is_refused(patched: tuple[Any, Any], tmp_path: Path) -> None:
    bare = Generator()._process_response_into_experience(answered(tmp_path)[0])
    with pytest.raises(InputError, match="is the generator patched in its process"):
        patched[1].compute_advantages_and_returns([bare])


def test_a_label_of_no_row_is_refused(tmp_path: Path) -> None:
    replay = openrlhf.Replay(written(OpenRlhf(), tmp_path, two_turns()))
    with pytest.raises(InputError, match="no recorded row 't#1'"):
        replay.answer("p", "t#1")
