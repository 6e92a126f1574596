"""What all token exporters share: whom they leave out, where they stop, how they whiten, and what they count."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from msgspec.structs import replace

import trajcredit as tc
from tests.tokens.tokenizers import byte_level
from trajcredit.errors import InputError
from trajcredit.exporters import Exported, TokenExporter
from trajcredit.model import Reward, Span, Trajectory, TurnTokens
from trajcredit.tokens import TokenRow


@dataclass(frozen=True, slots=True)
class Kept(TokenExporter):
    """Keeps the rows in a list that the test looks at."""

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        found = list(rows)
        ROWS.extend(found)
        return len(found)


ROWS: list[TokenRow] = []


@pytest.fixture(autouse=True)
def _no_rows() -> None:
    ROWS.clear()


def rollout(name: str, reward: float | None, sampled: int = 2, **more: Any) -> Trajectory:
    """A question of two tokens, an answer of `sampled` tokens, all logged."""
    given: dict[str, Any] = {"group": "g", "rewards": [] if reward is None else [Reward(reward)]}
    given["turns"] = [TurnTokens(0, prompt_ids=[7, 8], sampled_ids=list(range(20, 20 + sampled)))]
    return Trajectory(
        id=name,
        spans=[Span("user", -1, text="hi"), Span("assistant", 0, text="yes")],
        terminated=True,
        **given | more,
    )


def credit(*runs: Trajectory, attributor: str = "rloo") -> tc.Credit:
    return tc.attribute(tc.batch(runs), attributor)


def exported(*runs: Trajectory, **parameters: Any) -> Exported:
    return Kept(**parameters)([credit(*runs)], io.BytesIO())


def test_each_trajectory_is_a_row_with_its_group_and_numbers() -> None:
    done = exported(rollout("a", 1.0), rollout("b", 0.0, 3))
    assert [(row.uid, row.trajectory_id, row.advantages.tolist()) for row in ROWS] == [
        ("g", "a", [1.0, 1.0]),
        ("g", "b", [-1.0, -1.0, -1.0]),
    ]
    counted = done.counted
    assert counted is not None
    assert (done.rows, counted.trajectories, counted.tokens, counted.trained, counted.exact) == (2, 2, 9, 5, 5)
    assert counted.advantage_sum == -1.0
    assert counted.advantage_mean == -0.2


def test_the_unscored_are_left_out_and_counted() -> None:
    done = exported(rollout("a", 1.0), rollout("b", 0.0), rollout("c", None))
    assert [row.trajectory_id for row in ROWS] == ["a", "b"]
    assert done.counted is not None
    assert dict(done.counted.left_out) == {"no reward": 1}


def test_the_stale_are_withheld_and_stay_in_the_baseline() -> None:
    """Versions 10, 9 and 5 of a policy that is at 10; the mean of all three is what each is held against."""
    runs = [rollout("a", 1.0, policy_version="10"), rollout("b", 0.0, policy_version="9")]
    runs.append(rollout("c", 0.5, policy_version="5"))
    batch = tc.batch(runs)
    done = Kept(max_lag=3, current_version=10)([tc.attribute(batch, "grpo", scale="none")], io.BytesIO())
    assert {row.trajectory_id: float(row.advantages[0]) for row in ROWS} == {"a": 0.5, "b": -0.5}
    assert done.counted is not None
    assert dict(done.counted.left_out) == {"a policy version more than 3 behind": 1}


def test_a_lag_that_nobody_can_count_withholds_or_is_refused() -> None:
    done = exported(rollout("a", 1.0, policy_version="3"), rollout("b", 0.0), max_lag=0, current_version=3)
    assert [row.trajectory_id for row in ROWS] == ["a"]
    assert done.counted is not None
    assert done.counted.left_out.total() == 1
    with pytest.raises(InputError, match="a: policy version 'v3' is no number"):
        exported(rollout("a", 1.0, policy_version="v3"), rollout("b", 0.0), max_lag=0, current_version=3)


def test_a_trajectory_that_does_not_fit_stops_the_export_unless_asked_otherwise() -> None:
    bare = replace(rollout("b", 0.0), turns=[])
    with pytest.raises(InputError, match=r"^b, .*tokenizer.*misaligned=drop"):
        exported(rollout("a", 1.0), bare)
    done = exported(rollout("a", 1.0), bare, misaligned="drop")
    assert done.counted is not None
    assert (done.rows, done.counted.failed, [f.trajectory_id for f in done.counted.failures]) == (1, 1, ["b"])
    with pytest.raises(InputError, match="no row to train"):
        exported(bare, misaligned="drop")


def test_a_row_without_a_prompt_is_a_failure() -> None:
    bare = replace(rollout("b", 0.0), turns=[TurnTokens(0, prompt_ids=[], sampled_ids=[20, 21])])
    with pytest.raises(InputError, match="b, turn 0, span 1: no token comes before"):
        exported(rollout("a", 1.0), bare)
    done = exported(rollout("a", 1.0), bare, misaligned="drop")
    assert done.counted is not None
    assert (done.rows, done.counted.failed, done.counted.trained) == (1, 1, 2)


def test_spans_advantages_are_shared_out_as_asked() -> None:
    exported(rollout("a", 1.0, 4), rollout("b", 0.0), share="divide")
    assert ROWS[0].advantages.tolist() == [0.25] * 4
    ROWS.clear()
    exported(rollout("a", 1.0, 4), rollout("b", 0.0), share="last")
    assert ROWS[0].advantages.tolist() == [0.0, 0.0, 0.0, 1.0]


def test_whitening_is_over_the_trained_tokens_of_the_whole_file() -> None:
    """Tokens 1 1 -1 -1 -1: mean -.2, sample variance 1.2."""
    done = exported(rollout("a", 1.0), rollout("b", 0.0, 3), whiten="verl")
    scale = 1 / np.sqrt(1.2 + 1e-8)
    np.testing.assert_allclose(ROWS[0].advantages, [1.2 * scale] * 2, rtol=1e-12)
    np.testing.assert_allclose(ROWS[1].advantages, [-0.8 * scale] * 3, rtol=1e-12)
    assert done.counted is not None
    assert abs(done.counted.advantage_sum) < 1e-12
    ROWS.clear()
    exported(rollout("a", 1.0), rollout("b", 0.0, 3), whiten="openrlhf")
    np.testing.assert_allclose(ROWS[0].advantages, [1.2 / np.sqrt(0.96)] * 2, rtol=1e-12)


def test_a_whitened_row_is_otherwise_the_same_row() -> None:
    runs = [rollout("a", 1.0, policy_version="4"), rollout("b", 0.0, 3)]
    exported(*runs)
    plain = list(ROWS)
    ROWS.clear()
    exported(*runs, whiten="verl")
    for before, after in zip(plain, ROWS, strict=True):
        for name in ("uid", "trajectory_id", "row", "spans", "ids_source", "policy_version", "outcome"):
            assert getattr(before, name) == getattr(after, name)
        for name in ("prompt_ids", "response_ids", "response_mask"):
            np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


def test_one_file_holds_one_attributor() -> None:
    runs = [rollout("a", 1.0), rollout("b", 0.0)]
    with pytest.raises(InputError, match="one attributor: found rloo and grpo"):
        Kept()([credit(*runs), credit(*runs, attributor="grpo")], io.BytesIO())
    batch = tc.batch(runs)
    half, whole = (tc.attribute(batch, "rtg", gamma=gamma) for gamma in (0.5, 1.0))
    with pytest.raises(InputError, match="rtg twice, of different runs"):
        Kept()([half, whole], io.BytesIO())
    with pytest.raises(InputError, match="rtg twice, of the same trajectories"):
        Kept()([half, half], io.BytesIO())


def test_the_oldest_version_of_a_turn_counts() -> None:
    old = TurnTokens(0, prompt_ids=[7, 8], sampled_ids=[20, 21], policy_version="1")
    runs = [rollout("a", 1.0, policy_version="12"), rollout("b", 0.0, policy_version="12", turns=[old])]
    done = exported(*runs, max_lag=2, current_version=13)
    assert [row.trajectory_id for row in ROWS] == ["a"]
    assert done.counted is not None
    assert dict(done.counted.left_out) == {"a policy version more than 2 behind": 1}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"share": "half"}, "share='half'", id="an unknown share"),
        pytest.param({"whiten": "yes"}, "whiten='yes'", id="an unknown whitening"),
        pytest.param({"misaligned": "skip"}, "misaligned='skip'", id="an unknown way out"),
        pytest.param({"max_tokens": 1}, "max_tokens=1", id="no room for a token"),
        pytest.param({"max_tokens": "5"}, "max_tokens='5': expected a whole number", id="a number as text"),
        pytest.param({"max_lag": 2}, "current_version", id="a lag from nowhere"),
        pytest.param({"current_version": 2}, "max_lag", id="a version for nothing"),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Kept(**given)


def test_a_template_alone_is_refused() -> None:
    with pytest.raises(InputError, match="chat_template needs a tokenizer"):
        exported(rollout("a", 1.0), rollout("b", 0.0), chat_template="t.jinja")


def test_what_the_template_is_told_changes_what_it_writes(tmp_path: Path) -> None:
    template = "{% for m in messages %}{{ m.content }}{% if tone %}{{ tone }}{% endif %}<|im_end|>{% endfor %}"
    folder = str(byte_level(tmp_path / "bytes", template))
    runs = [replace(rollout(name, reward), turns=[]) for name, reward in (("a", 1.0), ("b", 0.0))]
    exported(*runs, tokenizer=folder)
    plain = ROWS[0].trained
    ROWS.clear()
    exported(*runs, tokenizer=folder, template_variables=("tone=!",))
    assert ROWS[0].trained == plain + 1
    ROWS.clear()
    exported(*runs, tokenizer=folder, stop=False)
    assert ROWS[0].trained == plain - 1
    with pytest.raises(InputError, match="'tone': expected NAME=VALUE"):
        exported(*runs, tokenizer=folder, template_variables=("tone",))


@pytest.mark.parametrize(
    ("ids", "logprobs", "says"),
    [
        pytest.param([20, -1], None, "id -1 at response token 1: expected 0 to 2147483647", id="a negative id"),
        pytest.param([20, 2**31], None, "id 2147483648 at response token 1", id="more than 32 bits"),
        pytest.param([20, 2**64], None, "no number of 64 bits", id="more than 64 bits"),
        pytest.param(
            [20, 21], [-1.0, 0.5], "log-prob 0.5 at response token 1: expected 0 or less", id="a log-prob above 0"
        ),
    ],
)
def test_ids_and_log_probs_that_cannot_be_are_failures(ids: list[int], logprobs: list[float] | None, says: str) -> None:
    bad = rollout("b", 0.0, turns=[TurnTokens(0, prompt_ids=[7, 8], sampled_ids=ids, logprobs=logprobs)])
    with pytest.raises(InputError, match=says):
        exported(rollout("a", 1.0), bad)
    done = exported(rollout("a", 1.0), bad, misaligned="drop")
    assert done.counted is not None
    assert (done.rows, done.counted.failed) == (1, 1)
