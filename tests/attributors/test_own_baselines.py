"""OPO, MaxRL, GPG and GRPO for pass@k: by hand, and what they refuse or say."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from tests.build import batch_of, group_of, run
from trajcredit.attributors import Gpg, Maxrl, Opo, Passk, Term
from trajcredit.batching import Batch
from trajcredit.errors import InputError

NAN = np.nan


def _lengths(batch: Batch, *tokens: int) -> Batch:
    """Tokens of each action in turn; observations have a count that must not matter."""
    counts = np.full(batch.n_spans, 77)
    counts[batch.action_mask] = tokens
    return replace(batch, n_tokens=counts)


def test_opo_weighs_outcomes_by_the_tokens_sampled() -> None:
    # lengths 3 + 1 and 1 and 5: (4 * 1 + 1 * 0 + 5 * .2) / 10 = .5
    batch = _lengths(batch_of(run("ucra", 1.0), run("a", 0.0), run("a", 0.2)), 3, 1, 1, 5)
    got = Opo()(batch)
    np.testing.assert_allclose(got.credit, [NAN, 0.5, NAN, 0.5, -0.5, -0.3], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(got.credit, got.advantage)
    assert got.notes == ()
    outcome, mean = Opo().explain(batch, 1)
    assert (outcome, mean.name, mean.spans) == (
        Term("outcome", 1.0, (3,)),
        "group mean, by tokens sampled",
        (3, 4, 5),
    )
    assert abs(mean.value + 0.5) < 1e-12
    assert Opo().explain(batch, 0) == ()


def test_opo_gives_equal_rewards_exactly_nothing() -> None:
    got = Opo()(_lengths(batch_of(*group_of(0.1, 0.1, 0.1)), 3, 7, 11))
    assert got.credit.tolist() == [0.0, 0.0, 0.0]


def test_opo_without_token_counts_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"no action span has a count: log `tokens` .*replace\(batch, n_tokens="):
        Opo()(batch_of(*group_of(0, 1)))


@pytest.mark.parametrize("tokens", [-1, 0])
def test_opo_leaves_out_who_has_no_count_and_says_so(tokens: int) -> None:
    batch = _lengths(batch_of(*group_of(1.0, 0.0, 5.0)), 1, 3, tokens)
    got = Opo()(batch)
    np.testing.assert_allclose(got.credit, [0.75, -0.25, NAN], rtol=0, atol=1e-12)
    assert [(note.code, note.trajectory) for note in got.notes] == [("missing-tokens", "t2")]
    assert Opo().explain(batch, 2) == ()


def test_opo_with_one_counted_rollout_has_nobody_beside_it() -> None:
    batch = _lengths(batch_of(*group_of(1.0, 0.0)), 2, -1)
    for singleton, credit in (("zero", 0.0), ("as_trainer", 1.0)):
        made = Opo(singleton)  # type: ignore[arg-type]
        np.testing.assert_array_equal(made(batch).credit, [credit, NAN])
        assert [note.code for note in made(batch).notes] == ["missing-tokens", "singleton-group"]
        assert sum(term.value for term in made.explain(batch, 0)) == credit


def test_a_rare_success_weighs_one_over_its_rate() -> None:
    batch = batch_of(*group_of(1, 0, 0, 0), *group_of(1, 1, 1, 0, group="h"))
    got = Maxrl("prime")(batch)
    assert got.credit.tolist() == [0.75, -0.25, -0.25, -0.25, 0.25, 0.25, 0.25, -0.75]
    np.testing.assert_allclose(got.advantage, [3, -1, -1, -1, 1 / 3, 1 / 3, 1 / 3, -1], rtol=0, atol=1e-12)
    sky = Maxrl()(batch).advantage
    np.testing.assert_allclose(sky[:2], [0.75 / 0.250001, -0.25 / 0.250001], rtol=0, atol=1e-12)
    assert Maxrl().explain(batch, 0) == (Term("outcome", 1.0, (0,)), Term("group mean", -0.25, (0, 1, 2, 3)))


@pytest.mark.parametrize(
    ("flavour", "outcomes", "advantages", "says"),
    [
        ("prime", [-1, 0], [0, 0], "every advantage is 0"),
        ("skyrl", [-1, 0], [1 / (1 - 2e-6), -1 / (1 - 2e-6)], "turn round or blow up"),
        ("prime", [0.1, 0.2, -0.3], [0, 0, 0], "every advantage is 0"),
        ("skyrl", [-1, 1], [-1e6, 1e6], "turn round or blow up"),
        ("skyrl", [-1 - 2e-6, 1], [0, 0], "turn round or blow up"),
    ],
)
def test_a_mean_that_is_not_above_0_is_said(flavour: Any, outcomes: Any, advantages: Any, says: str) -> None:
    got = Maxrl(flavour)(batch_of(*group_of(*outcomes)))
    if outcomes[0] != -1 - 2e-6:  # mean + eps is 0 but for rounding there: any size, and said
        np.testing.assert_allclose(got.advantage, advantages, rtol=1e-12, atol=0)
    assert np.isfinite(got.advantage).all()
    [note] = got.notes
    assert (note.code, note.group) == ("mean-not-positive", "g")
    assert says in note.message


def test_maxrl_of_equal_rewards_is_exactly_nothing_whatever_their_mean() -> None:
    for value in (0.0, -0.3, 0.1):
        for flavour in ("skyrl", "prime"):
            got = Maxrl(flavour)(batch_of(*group_of(value, value, value)))
            assert got.advantage.tolist() == [0, 0, 0]
            assert [note.code for note in got.notes] == ["zero-variance"]


def test_gpg_counts_the_rewards_that_are_not_0_over_the_whole_batch() -> None:
    # five scored, two of them not 0: alpha 2.5
    batch = batch_of(*group_of(1, 0, 0, None), *group_of(0.5, 0, group="h"))
    got = Gpg()(batch)
    np.testing.assert_allclose(got.credit, [2 / 3, -1 / 3, -1 / 3, NAN, 0.25, -0.25], rtol=0, atol=1e-12)
    np.testing.assert_allclose(got.advantage, 2.5 * got.credit, rtol=0, atol=1e-12)
    assert Gpg()(batch_of(*group_of(0, 0))).advantage.tolist() == [0, 0]
    assert Gpg()(batch_of()).advantage.tolist() == []


def test_only_the_best_gets_its_lead() -> None:
    batch = batch_of(*group_of(1, 0, None, 0.5, 0), *group_of(2, 8, 5, group="h"))
    got = Passk()(batch)
    assert np.nan_to_num(got.credit, nan=9).tolist() == [0.5, 0, 9, 0, 0, 0, 3, 0]
    spread = sqrt((0.625**2 + 2 * 0.375**2 + 0.125**2) / 3)
    np.testing.assert_allclose(got.advantage[[0, 6]], [0.5 / (spread + 1e-6), 3 / (3 + 1e-6)], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(Passk("none")(batch).advantage, got.credit)
    assert Passk().explain(batch, 0) == (Term("outcome", 1.0, (0,)), Term("outcome of the second best", -0.5, (3,)))
    assert Passk().explain(batch, 1) == (Term("not the best of its group", 0.0),)
    assert Passk().explain(batch, 2) == ()


def test_a_shared_lead_teaches_nobody_and_is_said() -> None:
    batch = batch_of(*group_of(1, 1, 0), *group_of(1, 1, group="h"), *group_of(3, group="i"))
    got = Passk()(batch)
    assert got.advantage.tolist() == [0.0] * 6
    assert [(note.code, note.group) for note in got.notes] == [
        ("singleton-group", "i"),
        ("zero-variance", "h"),
        ("tied-best", "g"),
    ]
    assert sum(term.value for term in Passk().explain(batch, 0)) == 0
    assert Passk().explain(batch, 5) == (Term("no sibling to lead", 0.0),)
