"""Credit against the group, scaled or not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.build import batch_of, group_of, run
from trajcredit.attributors import Grpo, Rloo, Term
from trajcredit.attributors.flavours import Flavour, group_relative

NAN = np.nan


def test_the_worked_group_of_zero_one_zero_one() -> None:
    got = Grpo()(batch_of(*group_of(0, 1, 0, 1)))
    assert got.credit.tolist() == [-0.5, 0.5, -0.5, 0.5]
    np.testing.assert_allclose(got.advantage, np.array([-1, 1, -1, 1]) * 0.5 / (3**-0.5 + 1e-6), atol=1e-12)
    np.testing.assert_allclose(got.advantage, [-0.866, 0.866, -0.866, 0.866], atol=1e-3)
    assert got.notes == ()


@pytest.mark.parametrize(
    ("grpo", "outcomes", "advantages"),
    [
        pytest.param(Grpo(ddof=0, eps=0.0), [1, 3, 3, 5], [-(2**0.5), 0, 0, 2**0.5], id="population spread"),
        pytest.param(Grpo(ddof=1, eps=0.0), [1, 3, 3, 5], [-(1.5**0.5), 0, 0, 1.5**0.5], id="sample spread"),
        pytest.param(Grpo(ddof=0, eps=0.0), [1, None, 0, 1], [0.5**0.5, NAN, -(2**0.5), 0.5**0.5], id="one unscored"),
        pytest.param(Grpo(eps=0.0), [0.1, 0.1, 0.1], [0, 0, 0], id="equal rewards that floats cannot hold"),
        pytest.param(Grpo(eps=0.0), [0.7] * 7, [0] * 7, id="seven equal ones"),
        pytest.param(Grpo(eps=0.0), [2, 2, 2, 2.015625], [-0.5, -0.5, -0.5, 1.5], id="one coarse float apart"),
        pytest.param(Grpo(scale="none"), [2, 0, 1], [1, -1, 0], id="no scale: Dr. GRPO"),
        pytest.param(Grpo(), [0.8], [0], id="a group of one"),
        pytest.param(Grpo(singleton="as_trainer"), [0.3], [0.3 / (1 + 1e-6)], id="a group of one, as verl has it"),
        pytest.param(Grpo(singleton="as_trainer", scale="none"), [0.3], [0.3], id="the same unscaled"),
        pytest.param(Grpo("trl", singleton="as_trainer"), [0.3], [0], id="a group of one, as TRL has it"),
        pytest.param(Grpo(), [None], [NAN], id="nobody scored"),
    ],
)
def test_grpo_by_hand(grpo: Grpo, outcomes: list[float | None], advantages: list[float]) -> None:
    got = grpo(batch_of(*group_of(*outcomes)))
    np.testing.assert_allclose(got.advantage, advantages, atol=1e-12)
    if not any(advantages):
        assert got.advantage.tolist() == got.credit.tolist() == [0.0] * len(outcomes)


def test_groups_follow_the_key_not_the_position() -> None:
    runs = [run("a", outcome, group=group) for outcome, group in zip([1, 10, 0, 20, 0.5, 30], "xyxyxy", strict=True)]
    assert Grpo()(batch_of(*runs)).credit.tolist() == [0.5, -10, -0.5, 0, 0, 10]


def test_a_long_rollout_counts_once_however_many_actions_it_has() -> None:
    got = Grpo(ddof=0, eps=0.0)(batch_of(run("aaa", 1), run("a", 0), run("aa", 1), run("a", 0)))
    assert got.advantage.tolist() == [1, 1, 1, -1, 1, 1, -1]


def test_a_member_without_actions_moves_nobody() -> None:
    got = Grpo()(batch_of(run("u", 10.0), run("ua", 0.0), run("a", 0.0)))
    np.testing.assert_array_equal(got.advantage, [NAN, NAN, 0.0, 0.0])


def test_degenerate_groups_are_named() -> None:
    batch = batch_of(*group_of(0.8, None, group="lone"), *group_of(1, 1, None, group="flat"), *group_of(0, 1))
    for attributor in (Grpo(), Rloo()):
        notes = attributor(batch).notes
        assert [(note.code, note.group, note.trajectory) for note in notes] == [
            ("singleton-group", "lone", "t0"),
            ("zero-variance", "flat", None),
        ]


def test_the_explanation_names_what_the_mean_rests_on() -> None:
    batch = batch_of(run("ucra", 1.0), run("a", 0.0), run("a", None))
    assert Grpo().explain(batch, 1) == (Term("outcome", 1.0, (3,)), Term("group mean", -0.5, (3, 4)))
    assert Rloo().explain(batch, 1) == (Term("outcome", 1.0, (3,)), Term("mean of siblings", 0.0, (4,)))
    assert Grpo().explain(batch, 0) == Grpo().explain(batch, 5) == ()


def test_a_raw_outcome_is_explained_as_held_against_nothing() -> None:
    batch = batch_of(run("ua", 0.3))
    for attributor in (Grpo(singleton="as_trainer"), Rloo(singleton="as_trainer")):
        assert attributor.explain(batch, 1) == (Term("outcome", 0.3, (1,)),)


@pytest.mark.parametrize(
    ("rloo", "outcomes", "credit"),
    [
        pytest.param(Rloo(), [0, 1, 0, 1], [-2 / 3, 2 / 3, -2 / 3, 2 / 3], id="the worked group"),
        pytest.param(Rloo(), [1, 0, 0, 1, 1], [0.5, -0.75, -0.75, 0.5, 0.5], id="five"),
        pytest.param(Rloo(), [1, None, 0], [1, NAN, -1], id="the unscored one is nobody's sibling"),
        pytest.param(Rloo(), [0.7, 0.7, 0.7], [0, 0, 0], id="equal rewards"),
        pytest.param(Rloo(), [0.3], [0], id="a group of one"),
        pytest.param(Rloo(singleton="as_trainer"), [0.3], [0.3], id="a group of one, as verl has it"),
        pytest.param(Rloo("trl", singleton="as_trainer"), [0.3], [0], id="a group of one, as TRL has it"),
    ],
)
def test_rloo_by_hand(rloo: Rloo, outcomes: list[float | None], credit: list[float]) -> None:
    got = rloo(batch_of(*group_of(*outcomes)))
    np.testing.assert_allclose(got.credit, credit, atol=1e-12)
    np.testing.assert_array_equal(got.credit, got.advantage)


RAW: list[float] = [1.0, 0.0, 0.5, 0.0]
NEMO = Flavour(ddof=1, eps=1e-6, lone_grpo="zero", lone_rloo="zero", baseline="siblings", spread="siblings")


@pytest.mark.parametrize(
    ("flavour", "advantages"),
    [
        pytest.param(Flavour(1, 1e-9, "zero", "zero"), [1.305582, -0.783349, 0.261117, -0.783349], id="openrlhf"),
        pytest.param(Flavour(0, 1e-6, "raw", "raw"), [1.507553, -0.904532, 0.301511, -0.904532], id="rllm and art"),
        pytest.param(Flavour(1, 1e-5, "zero", "zero"), [1.305555, -0.783333, 0.261111, -0.783333], id="areal"),
        pytest.param(
            Flavour(1, 0.0, "zero", "zero", spread="none"),
            [0.625, -0.375, 0.125, -0.375],
            id="prime-rl divides by nothing",
        ),
        pytest.param(NEMO, [2.886741, -0.999998, 0.288675, -0.999998], id="nemo divides by the siblings' spread"),
    ],
)
def test_one_row_is_enough_for_any_trainer(flavour: Flavour, advantages: list[float]) -> None:
    _, got = group_relative(np.array(RAW), np.zeros(4, dtype=np.int64), flavour, "zero")
    np.testing.assert_allclose(got, advantages, atol=2e-6)
