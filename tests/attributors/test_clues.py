"""Who brought in the answer: by hand, against a plain loop, what adds up, what is refused and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.attributors.meetings import meetings, told
from tests.build import batch_of, run
from trajcredit.arrays import F64
from trajcredit.attributors import Clues, configure
from trajcredit.batching import Batch, decisions
from trajcredit.errors import InputError
from trajcredit.graph import EDGE_KINDS
from trajcredit.model import Trajectory

NAN = np.nan
CITIES = "Paris and Rome"
"""Two names of the same bits: half of the answer each."""
FOUND = "u:go c1 r:Paris c2 r:Rome b1 r:ok a"


def known(run: Trajectory, answer: str | None) -> Trajectory:
    return msgspec.structs.replace(run, answer=answer)


def failed(story: str, answer: str | None = CITIES, outcome: float | None = 0.0, **given: Any) -> Batch:
    """A rollout of that answer, and a sibling without calls that did better by 1."""
    return batch_of(known(told(story, outcome, **given), answer), told("u:go a", 1.0))


def credit_of(batch: Batch, n: int, **given: Any) -> F64:
    return Clues(**given)(batch).credit[:n]


def test_right_finds_of_a_failed_run_are_praised_and_what_wasted_them_pays() -> None:
    credit = credit_of(failed(FOUND), 8)
    # R - b = -1; half of the answer each, 0.25; booking and answer share -1 - 0.5
    np.testing.assert_allclose(credit, [NAN, 0.25, NAN, 0.25, NAN, -0.75, NAN, -0.75], atol=1e-15)


def test_in_a_run_that_won_the_rest_is_less() -> None:
    batch = batch_of(known(told(FOUND, 1.0), CITIES), told("u:go a", 0.0))
    np.testing.assert_allclose(credit_of(batch, 8), [NAN, 0.25, NAN, 0.25, NAN, 0.25, NAN, 0.25], atol=1e-15)


def test_the_bits_of_a_value_are_its_part_of_the_answer() -> None:
    batch = failed("u:go c1 r:UA1407 c2 r:Paris a", "UA1407 in Paris")
    credit = credit_of(batch, 6, bonus=1.0)
    np.testing.assert_allclose(credit[[1, 3]], [24 / 31.5, 7.5 / 31.5], atol=1e-12)


def test_the_call_that_a_find_rests_on_has_its_part() -> None:
    credit = credit_of(failed(FOUND, edges=[(2, 3)]), 8)
    # of Rome, a quarter, the second look keeps 1 / 1.5
    np.testing.assert_allclose(credit[[1, 3]], [0.25 + 0.25 / 3, 0.25 * 2 / 3], atol=1e-15)
    alone = credit_of(failed(FOUND, edges=[(2, 3)]), 8, gamma=0.0)
    np.testing.assert_allclose(alone[[1, 3]], [0.25, 0.25], atol=1e-15)


@pytest.mark.parametrize(
    ("story", "finds"),
    [
        pytest.param("u:go c1 r:Paris c2 r:Paris a", {1: 0.5}, id="who shows it again found nothing"),
        pytest.param("u:go c1 r:Paris cRome r:Rome a", {1: 0.5}, id="what the agent asked with it knew"),
        pytest.param("u:go c1 r:Paris a u:Rome c2 r:Rome a", {1: 0.5}, id="what a user told is nobody's find"),
        pytest.param("u:Rome c1 r:Paris c2 r:Rome a", {1: 1.0}, id="what the request holds is not to be found"),
        pytest.param("u:go c1 c2 r:Paris r:Rome a", {1: 0.5, 2: 0.5}, id="two calls of one turn"),
        pytest.param("u:go c1 r:paris,ROME a", {1: 1.0}, id="written otherwise it is the same"),
        pytest.param("u:go c1 r:Parish a", {}, id="a longer word is another"),
    ],
)
def test_who_found_what(story: str, finds: dict[int, float]) -> None:
    n = len(story.split())
    credit = credit_of(failed(story), n, gamma=0.0, bonus=1.0)
    assert {i: c for i, c in enumerate(credit.tolist()) if c > 0} == pytest.approx(finds)


def test_a_failed_result_finds_nothing() -> None:
    one = told("u:go c1 r:Paris-and-Rome c2 r:Rome a", 0.0)
    spans = [msgspec.structs.replace(s, error=True) if i == 2 else s for i, s in enumerate(one.spans)]
    batch = batch_of(known(msgspec.structs.replace(one, spans=spans), CITIES), told("u:go a", 1.0))
    credit = credit_of(batch, 6, bonus=1.0)
    assert credit[3] == pytest.approx(0.5)
    assert credit[1] < 0


def test_words_carry_their_turn() -> None:
    batch = failed("u:go t c1 c2 r:Paris r:x a")
    credit = credit_of(batch, 7, gamma=0.0)
    # Paris 0.25; the other call and the answer share -1 - 0.25
    np.testing.assert_allclose(credit, [NAN, 0.25 - 0.625, 0.25, -0.625, NAN, NAN, -0.625], atol=1e-15)


def test_where_every_choice_found_something_all_share_the_rest() -> None:
    batch = failed("u:go c1 r:Paris c2 r:Rome")
    np.testing.assert_allclose(credit_of(batch, 5), [NAN, -0.5, NAN, -0.5, NAN], atol=1e-15)


def test_the_answer_of_the_group_serves_those_without_and_two_answers_are_none() -> None:
    runs = [told(FOUND, 0.0), known(told("u:go a", 1.0), CITIES), told("u:go a", 0.5)]
    got = Clues()(batch_of(*runs))
    assert got.credit[1] == pytest.approx(0.25)
    assert got.notes == ()
    runs[2] = known(runs[2], "Oslo")
    got = Clues()(batch_of(*runs))
    assert got.credit[1] == got.credit[3] == pytest.approx(-0.75 / 4)
    assert [(note.code, note.group) for note in got.notes] == [("no-answer", "g")]
    assert got.notes[0].message.startswith("1 of its rollouts have no known answer")


def test_an_answer_of_common_words_counts_and_a_note_says_what_it_is_worth() -> None:
    batch = failed("u:go c1 r:blue a", "blue")
    got = Clues()(batch)
    assert got.credit[1] == pytest.approx(0.5)
    assert [note.code for note in got.notes] == ["weak-answer"]


def test_an_answer_in_the_request_is_told() -> None:
    got = Clues()(failed("u:Paris c1 r:Paris a", "Paris"))
    np.testing.assert_allclose(got.credit[:4], [NAN, -0.5, NAN, -0.5], atol=1e-15)
    assert [note.code for note in got.notes] == ["answer-given"]


def test_the_best_siblings_can_stand_in_for_the_answer() -> None:
    """What both winners wrote last counts twice what one of them did; none of them is asked about itself."""
    last = [run("ua", 1.0), run("ua", 1.0), told(FOUND, 0.0)]
    texts = ["it is Paris", "it is Paris, or Rome", ""]
    runs = [
        msgspec.structs.replace(
            one, spans=[msgspec.structs.replace(s, text=text) if s.kind == "assistant" else s for s in one.spans]
        )
        for one, text in zip(last, texts, strict=True)
    ]
    batch = batch_of(*runs)
    with pytest.raises(InputError, match="no trajectory has one"):
        Clues()(batch)
    got = Clues(answers="siblings", bonus=1.0)(batch)
    np.testing.assert_allclose(got.credit[[5, 7]], [2 / 3, 1 / 3], atol=1e-12)
    assert got.notes == ()
    moved = replace(batch, outcome=np.array([0.0, 0.0, 1.0]))
    assert [n.message[:48] for n in Clues(answers="siblings")(moved).notes] == [
        "3 of its rollouts have no better sibling to tell"
    ]


def test_without_any_answer_it_is_refused_and_says_what_is_missing() -> None:
    with pytest.raises(InputError, match=r"clues needs the known answer .* \(`answer`\), .*answers=siblings"):
        Clues()(batch_of(told(FOUND, 1.0), told("u:go a", 0.0)))
    with pytest.raises(InputError, match="packed rows without them"):
        Clues()(replace(failed(FOUND), graphs=None))
    for given_, said in (({"bonus": "-1"}, "bonus=-1.0 is not"), ({"answers": "mine"}, "answers='mine'")):
        with pytest.raises(InputError, match=said):
            configure(Clues, given_)


def test_the_explanation_names_the_values_and_the_rest() -> None:
    batch = failed(FOUND, edges=[(2, 3)])
    own, passed = Clues().explain(batch, 1)
    assert own.name == "its result first showed 'Paris' of the answer"
    assert passed.name == "used by the call whose result first showed 'Rome' of the answer"
    assert [own.value, passed.value] == pytest.approx([0.25, 0.25 / 3])
    assert passed.spans == (3,)
    names = [term.name for term in Clues().explain(batch, 5)]
    assert names == [f"{what}, 1 of 2 parts" for what in ("outcome", "mean of siblings", "finds of the rollout")]
    assert [term.value for term in Clues().explain(batch, 5)] == pytest.approx([0.0, -0.5, -0.25])


def by_hand(batch: Batch, clues: Clues, answers: Sequence[str]) -> list[float]:
    """Plain loops over spans and their words, which are values as they stand; answers of words that count alike."""
    credit, chosen = [nan] * batch.n_spans, decisions(batch)
    against = naive.leave_one_out(batch.outcome.tolist(), batch.group.tolist())
    assert batch.graphs is not None
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        start, end = batch.span_offsets[t : t + 2].tolist()
        spans = batch.graphs[t].trajectory.spans
        edges = [
            (int(batch.parents[e]) - start, child - start, 1.0)
            for child in range(start, end)
            for e in range(batch.parent_offsets[child], batch.parent_offsets[child + 1])
            if batch.parent_weight[e] >= 0.25 and EDGE_KINDS[batch.parent_kind[e]] not in ("control", "context")
        ]
        acts = batch.action_mask[start:end].tolist()
        share = [0.0] * len(spans)
        for word in answers:
            first = next((span for span in spans if span.text == word and span.kind == "tool_result"), None)
            if first is None or first.result_of is None:
                continue
            sinks = [i == first.result_of for i in range(len(spans))]
            factor, hops = naive.best_path(sinks, acts, edges, clues.gamma)
            weight = [
                f if h >= 0 and s.kind == "tool_call" else 0.0 for f, h, s in zip(factor, hops, spans, strict=True)
            ]
            share = [a + w / sum(weight) / len(answers) for a, w in zip(share, weight, strict=True)]
        mine = [i for i in range(len(spans)) if chosen[start + i]]
        bare = [i for i in mine if share[i] == 0] or mine
        for i in mine:
            left = (against[t] - clues.bonus * sum(share)) / len(bare)
            credit[start + i] = clues.bonus * share[i] + (left if i in bare else 0.0)
        for i in range(len(spans)):
            if acts[i] and i not in mine:
                credit[start + i] = sum(credit[start + k] for k in mine if spans[k].turn == spans[i].turn)
    return credit


@settings(max_examples=40)
@given(runs=meetings(), gamma=st.sampled_from([0.0, 0.5, 1.0]))
def test_it_says_what_the_plain_loop_says_and_choices_add_up(runs: list[Trajectory], gamma: float) -> None:
    batch = batch_of(*(known(one, "x y") for one in runs))
    clues = Clues(gamma=gamma)
    credit = clues(batch).credit
    np.testing.assert_allclose(credit, by_hand(batch, clues, ["x", "y"]), rtol=1e-9, atol=1e-9)
    against = naive.leave_one_out(batch.outcome.tolist(), batch.group.tolist())
    for t in np.flatnonzero(~np.isnan(batch.outcome)).tolist():
        own = np.arange(batch.span_offsets[t], batch.span_offsets[t + 1])
        mine = own[decisions(batch)[own]]
        assert credit[mine].sum() == pytest.approx(against[t], abs=1e-9)
        for span in own[batch.action_mask[own]].tolist():
            assert sum(term.value for term in clues.explain(batch, span)) == pytest.approx(credit[span], abs=1e-9)
