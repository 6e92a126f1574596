"""One formula, many trainers: what each of their choices does, by hand, by twin and by law."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attributors import naive_groups as naive
from tests.build import batch_of, group_of, run
from trajcredit.attributors import Attributor, Gpg, Grpo, Maxrl, Opo, Passk, ReinforcePp, Rloo, Term
from trajcredit.attributors.flavours import FLAVOURS
from trajcredit.batching import Batch

NAN = np.nan
RAW: Any = {"singleton": "as_trainer"}


def _plain(grpo: Grpo) -> Grpo:
    return replace(grpo, eps=0.0)


@pytest.mark.parametrize(
    ("grpo", "advantages"),
    [
        # deviations -2 0 0 2: sum of squares 8
        pytest.param(Grpo(), [-sqrt(1.5), 0, 0, sqrt(1.5)], id="the sample's spread"),
        pytest.param(Grpo("rllm"), [-sqrt(2), 0, 0, sqrt(2)], id="the population's"),
        # others of 1: 3 3 5, mean 11/3, sample variance 4/3; of 3: 1 3 5, variance 4
        pytest.param(Grpo("nemo"), [-8 / 3 / sqrt(4 / 3), 0, 0, 8 / 3 / sqrt(4 / 3)], id="the siblings'"),
        pytest.param(Grpo("nemo", baseline="group"), [-sqrt(1.5), 0, 0, sqrt(1.5)], id="nemo beside the group's mean"),
        pytest.param(Grpo("nemo", scale="none"), [-8 / 3, 0, 0, 8 / 3], id="nemo undivided"),
        # both grow by n / (n - 1) = 4/3: the ratio stays
        pytest.param(Grpo("areal", baseline="siblings"), [-sqrt(1.5), 0, 0, sqrt(1.5)], id="areal leaves out of both"),
        pytest.param(Grpo(baseline="siblings"), [-4 / 3 * sqrt(1.5), 0, 0, 4 / 3 * sqrt(1.5)], id="of the mean alone"),
        pytest.param(Grpo("prime"), [-2, 0, 0, 2], id="prime divides by nothing"),
    ],
)
def test_the_group_of_1_3_3_5(grpo: Grpo, advantages: list[float]) -> None:
    got = _plain(grpo)(batch_of(*group_of(1, 3, 3, 5)))
    np.testing.assert_allclose(got.advantage, advantages, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("grpo", "advantages"),
    [
        # rewards 0 2 4 4 4: batch mean 14/5, squares 7.84 .64 3 * 1.44 = 12.8; credits -1 1 0 0 0
        pytest.param(Grpo("trl", scale="batch"), np.array([-1, 1, 0, 0, 0]) / sqrt(3.2), id="TRL: of the rewards"),
        pytest.param(Grpo("rllm", scale="batch"), np.array([-1, 1, 0, 0, 0]) / sqrt(0.4), id="rLLM: of what is left"),
        pytest.param(Grpo("areal", scale="batch"), np.array([-1, 1, 0, 0, 0]) / sqrt(0.5), id="so does AReaL"),
        pytest.param(
            Grpo("rllm", scale="batch", baseline="batch"),
            np.array([-2.8, -0.8, 1.2, 1.2, 1.2]) / sqrt(12.8 / 5),
            id="PRPO: against the batch",
        ),
        pytest.param(
            Grpo("openrlhf", scale="none", baseline="batch"), [-2.8, -0.8, 1.2, 1.2, 1.2], id="flash_reinforce"
        ),
        # of the credits about 0 in each group: sqrt((2.8^2 + .8^2) / 1), sqrt(3 * 1.2^2 / 2)
        pytest.param(
            Grpo("areal", baseline="batch"),
            [-2.8 / sqrt(8.48), -0.8 / sqrt(8.48), *[1.2 / sqrt(2.16)] * 3],
            id="AReaL: mean of the batch, spread of the group",
        ),
    ],
)
def test_spreads_and_means_of_a_batch(grpo: Grpo, advantages: Any) -> None:
    assert grpo.scope == "batch"
    batch = batch_of(*group_of(0, 2, group="g"), *group_of(4, 4, 4, group="h"), *group_of(None, group="i"))
    got = _plain(grpo)(batch)
    np.testing.assert_allclose(got.advantage, [*advantages, NAN], rtol=0, atol=1e-12)
    for span in range(batch.n_spans):
        total = sum(term.value for term in grpo.explain(batch, span))
        np.testing.assert_allclose(total, np.nan_to_num(got.credit[span]), atol=1e-12)


def test_against_the_batch_a_group_of_one_is_held_against_others() -> None:
    grpo = Grpo("openrlhf", scale="none", baseline="batch")
    batch = batch_of(*group_of(1, group="g"), *group_of(0, group="h"))
    assert grpo(batch).credit.tolist() == [0.5, -0.5]
    assert grpo(batch).notes == ()
    assert grpo.explain(batch, 0) == (Term("outcome", 1.0, (0,)), Term("mean of the batch", -0.5, (0, 1)))


@pytest.mark.parametrize(
    ("outcomes", "code"), [([0.1, 0.1, 0.1], "zero-variance"), ([0.1, None], "singleton-batch"), ([None], None)]
)
def test_a_batch_that_nothing_stands_out_of_is_named(outcomes: list[float | None], code: str | None) -> None:
    batch = batch_of(*(run("a", outcome, group=f"g{i}") for i, outcome in enumerate(outcomes)))
    got = Grpo("rllm", scale="batch", baseline="batch")(batch)
    assert [note.code for note in got.notes] == ([code] if code else [])
    assert np.nan_to_num(got.advantage).tolist() == [0.0] * len(outcomes)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("outcomes", [[0.7], [0.1, 0.1, 0.1], [2.0**52 - 0.5] * 2])
def test_degenerate_groups_get_exactly_nothing_of_any_trainer(flavour: Any, outcomes: list[float]) -> None:
    batch = batch_of(*group_of(*outcomes), *group_of(0, 1, group="h"))
    scales: Any = ("group", "none") if flavour == "prime" else ("group", "batch", "none")
    for scale in scales:
        for baseline in ("flavour", "group", "siblings"):
            got = Grpo(flavour, scale=scale, baseline=baseline)(batch)
            assert got.advantage[: len(outcomes)].tolist() == [0.0] * len(outcomes)
            assert [note.group for note in got.notes] == ["g"]


@pytest.mark.parametrize(
    ("attributor", "advantage"),
    [
        (Grpo("verl", **RAW), 0.3 / (1 + 1e-6)),
        (Grpo("verl", scale="none", **RAW), 0.3),
        (Grpo("verl", baseline="siblings", **RAW), 0.3 / (1 + 1e-6)),
        (Grpo("skyrl", **RAW), 0.3 / (1 + 1e-6)),
        (Grpo("skyrl", baseline="siblings", **RAW), 0.0),
        (Grpo("rllm", **RAW), 0.3 / (1 + 1e-6)),
        (Grpo("areal", **RAW), 0.0),
        (Grpo("areal", baseline="siblings", **RAW), 0.3 / (1 + 1e-5)),
        *[(Grpo(name, **RAW), 0.0) for name in ("trl", "trl_async", "openrlhf", "slime", "art", "nemo", "prime")],
        *[(Rloo(name, **RAW), 0.3) for name in ("verl", "rllm", "areal")],
        *[(Rloo(name, **RAW), 0.0) for name in ("trl", "openrlhf", "skyrl", "nemo")],
        (Opo(**RAW), 0.3),
        (Maxrl(**RAW), 0.3),
        (Maxrl("prime", **RAW), 0.0),
        (Gpg(**RAW), 0.3),
        (Passk(), 0.0),
        *[(made(), 0.0) for made in (Grpo, Rloo, Opo, Maxrl, Gpg)],
    ],
    ids=str,
)
def test_a_group_of_one_as_each_trainer_has_it(attributor: Attributor, advantage: float) -> None:
    batch = replace(batch_of(*group_of(0.3)), n_tokens=np.array([5]))
    got = attributor(batch)
    np.testing.assert_allclose(got.advantage, [advantage], rtol=0, atol=1e-12)
    assert [note.code for note in got.notes] == ["singleton-group"]
    np.testing.assert_allclose(sum(term.value for term in attributor.explain(batch, 0)), got.credit[0], atol=1e-12)


def test_trl_whitens_rloo_over_the_rollouts_of_the_batch() -> None:
    # credits 2 -2 and 1 -1: mean 0, sample variance 10/3
    batch = batch_of(run("aa", 1, group="g"), run("a", -1, group="g"), *group_of(0.5, -0.5, group="h"))
    rloo = Rloo("trl", whiten=True)
    got = rloo(batch)
    assert (rloo.scope, Rloo().scope) == ("batch", "group")
    assert got.credit.tolist() == [2, 2, -2, 1, -1]
    np.testing.assert_allclose(got.advantage, got.credit / (sqrt(10 / 3) + 1e-4), rtol=0, atol=1e-12)
    flat = rloo(batch_of(*group_of(0.1, 0.1, 0.1)))
    assert flat.advantage.tolist() == [0, 0, 0]


outcomes = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 0.5, -0.25, 3.0]), st.sampled_from("gh"), st.integers(1, 9)),
    min_size=1,
    max_size=7,
)
Rows = list[tuple[float, str, int]]


def _batch(rows: Rows) -> Batch:
    batch = batch_of(*(run("a", r, group=g) for r, g, _ in rows))
    return replace(batch, n_tokens=np.array([length for *_, length in rows]))


def _gives(attributor: Attributor, batch: Batch, wanted: list[float]) -> None:
    np.testing.assert_allclose(attributor(batch).advantage, wanted, rtol=1e-9, atol=1e-9, err_msg=str(attributor))


@settings(max_examples=60)
@given(outcomes, st.booleans())
def test_every_flavour_says_what_the_slow_formula_says(rows: Rows, raw: bool) -> None:
    batch, scores, groups = _batch(rows), [r for r, *_ in rows], [g for _, g, _ in rows]
    singleton: Any = "as_trainer" if raw else "zero"
    for name, row in FLAVOURS.items():
        for scale in ("group", "batch", "none"):
            for baseline in ("group", "siblings", "batch"):
                if (name == "prime" and scale == "batch") or (baseline == "batch" and scale == "group"):
                    continue
                made: Any = Grpo(name, scale=scale, baseline=baseline, singleton=singleton)  # type: ignore[arg-type]
                spread = "none" if name == "prime" else scale
                if name == "nemo" and scale == "group" and baseline == "siblings":
                    spread = "siblings"
                lone = raw and (row.lone_rloo if baseline == "siblings" else row.lone_grpo) == "raw"
                args = (row.ddof, row.eps, baseline, spread, row.of == "credits", lone)
                credit, advantage = naive.grpo(scores, groups, *args)
                np.testing.assert_allclose(made(batch).credit, credit, rtol=1e-9, atol=1e-12, err_msg=str(made))
                _gives(made, batch, advantage)
    _gives(Rloo(singleton=singleton), batch, naive.rloo(scores, groups, raw))
    _gives(Opo(singleton), batch, naive.opo(scores, groups, [n for *_, n in rows], raw))
    _gives(Maxrl(singleton=singleton), batch, naive.maxrl(scores, groups, 1e-6, raw))
    _gives(Maxrl("prime", singleton), batch, naive.maxrl(scores, groups, 0.0, False))
    _gives(Gpg(singleton), batch, naive.gpg(scores, groups, raw))
    _gives(Passk(), batch, naive.passk(scores, groups, 1e-6))


FAIR: list[Attributor] = [
    *[Grpo(name) for name in ("trl_async", "openrlhf", "skyrl", "slime", "rllm", "art", "areal", "nemo", "prime")],
    Grpo("areal", baseline="siblings"),
    Grpo("trl", scale="batch"),
    Grpo("rllm", scale="batch"),
    Rloo("trl", whiten=True),
    Opo(),
    Passk(),
    ReinforcePp(baseline="group"),
]
"""Those for which a constant added to all rewards changes nothing."""
SCALE_FREE: list[Attributor] = [
    Grpo("rllm", eps=0.0),
    Grpo("areal", eps=0.0, scale="batch"),
    Grpo("areal", eps=0.0, baseline="siblings"),
    Grpo("trl", eps=0.0, scale="batch"),
    Grpo("rllm", eps=0.0, scale="batch", baseline="batch"),
]
"""Those that divide by a spread which is 0 only where all they divide is."""


@settings(max_examples=25)
@given(outcomes, st.randoms(use_true_random=False), st.sampled_from([-8.0, 0.5, 4.0]))
def test_order_constants_and_the_size_of_rewards_change_nothing(rows: Rows, random: Any, shift: float) -> None:
    batch, order = _batch(rows), list(range(len(rows)))
    random.shuffle(order)
    shuffled = _batch([rows[i] for i in order])
    moved = _batch([(r + shift, g, n) for r, g, n in rows])
    for attributor in (*FAIR, Maxrl(), Gpg()):
        plain = attributor(batch).advantage
        _gives(attributor, shuffled, plain[order].tolist())
        if attributor in FAIR:
            _gives(attributor, moved, plain.tolist())
    doubled = _batch([(2 * r, g, n) for r, g, n in rows])
    for attributor in SCALE_FREE:
        _gives(attributor, doubled, attributor(batch).advantage.tolist())
