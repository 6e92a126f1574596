"""Logged ids are held to the rest of the log: to the turn they are of, to what they spell, to what numbers can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tokens.hand import ASK, aligned, why
from tests.tokens.tokenizers import CHATML, byte_level, word_level
from trajcredit.model import Note, Span, SpanTokens, TurnTokens
from trajcredit.tokens import Renderer
from trajcredit.tokens.cutting import OTHER
from trajcredit.tokens.inline import INLINE


def answer(ids: list[int] | None = None, text: str = "said", **more: Any) -> Span:
    return Span("assistant", 0, text=text, tokens=None if ids is None else SpanTokens(ids, **more))


@pytest.mark.parametrize(
    ("prompt", "ids", "logprobs", "reason"),
    [
        pytest.param([7], [20, -1], None, "id -1 at response token 1: expected 0 to 2147483647", id="a negative id"),
        pytest.param([-7], [20], None, "id -7 in the prompt: expected 0 to 2147483647", id="in the prompt"),
        pytest.param([7], [2**31], None, "id 2147483648 at response token 0: expected 0 to 2147483647", id="too large"),
        pytest.param(
            [7], [20, 21], [-1.0, 0.5], "log-prob 0.5 at response token 1: expected 0 or less", id="a log-prob above 0"
        ),
    ],
)
def test_numbers_that_cannot_be_are_failures_of_the_alignment_itself(prompt, ids, logprobs, reason):
    found = aligned([ASK, answer()], None, turns=[TurnTokens(0, prompt, ids, logprobs)])
    assert why(found) == (0, 1, reason)


def test_an_id_outside_of_the_vocabulary_is_a_failure(load):
    renderer = load()
    most = renderer.vocabulary - 1
    prompt = [*renderer.ids("Hi"), most + 1]
    found = aligned([ASK, answer(text="Yes.")], renderer, turns=[TurnTokens(0, prompt, renderer.ids("Yes."))])
    assert why(found) == (0, 1, f"id {most + 1} in the prompt: expected 0 to {most}")


@pytest.mark.parametrize(
    ("own", "fits"),
    [
        pytest.param([5, 6, 7], True, id="all of them"),
        pytest.param([6, 7], True, id="without a token at the beginning"),
        pytest.param([], True, id="none"),
        pytest.param([5, 7], False, id="with a gap"),
        pytest.param([8], False, id="another id"),
        pytest.param([5, 6, 7, 8], False, id="more than were sampled"),
    ],
)
def test_the_ids_of_a_span_are_a_slice_of_those_of_its_turn(own, fits):
    found = aligned([ASK, answer(own)], None, turns=[TurnTokens(0, [1], [5, 6, 7])])
    if fits:
        [row] = found.rows
        assert (row.response_mask.tolist(), found.notes) == ([1, 1, 1], ())
    else:
        reason = f"the {len(own)} ids of this span do not stand among the 3 that its turn sampled"
        assert why(found) == (0, 1, reason)


def test_so_are_those_of_each_span_of_a_turn():
    spans = [ASK, Span("reasoning", 0, text="hm", tokens=SpanTokens([5])), answer([9])]
    found = aligned(spans, None, turns=[TurnTokens(0, [1], [5, 6])])
    assert why(found) == (0, 2, "the 1 ids of this span do not stand among the 2 that its turn sampled")


def test_a_turn_whose_ids_were_lost_is_named_where_no_other_has_ids(load):
    lost = Note("lost-tokens", "nodes[1]: 2 log-probs are logged, and 1 ids were sampled: left out", span=1)
    told = f"the token ids of the log do not fit the rest of it: {lost.message}: pass a tokenizer"
    assert why(aligned([ASK, answer()], None, report=[lost])) == (0, 1, told)
    whole = Note("lost-tokens", "3 steps have tokens, 2 messages are of the policy")
    assert why(aligned([ASK, answer()], None, report=[whole]))[:2] == (-1, None)
    assert why(aligned([ASK, answer()], None)) == (-1, None, "the log has no token ids: pass a tokenizer")
    found = aligned([ASK, answer(text="Yes.")], load(), report=[lost])
    assert found.rows[0].ids_source == "retokenized"
    assert found.notes == (
        "ids that the log has, and that do not fit the rest of it, were left out by its reader: made from the text",
    )


# ---------------------------------------------------------------- arguments

SAMPLED = '<tool_call>\n{"name": "get", "arguments": %s}\n</tool_call>'


def called(renderer: Renderer, written: str, arguments: Any, by_ids: bool, turn: bool = True) -> tuple[str, ...]:
    """The notes of a turn that says yes and calls: the ids spell `written`, the log has `arguments`."""
    yes, call = renderer.ids("Yes.\n"), renderer.ids(SAMPLED % written)
    tokens = [SpanTokens(ids) if by_ids else None for ids in (yes, call)]
    spans = [
        Span("user", -1, text="Hi", tokens=SpanTokens(renderer.ids("Hi"))),
        Span("assistant", 0, text="Yes.", tokens=tokens[0]),
        Span("tool_call", 0, name="get", arguments=arguments, tokens=tokens[1]),
    ]
    turns = [TurnTokens(0, renderer.ids("Hi"), [*yes, *call])] if turn else []
    found = aligned(spans, renderer, turns=turns)
    assert [own.span for own in found.rows[0].spans] == [1, 2]
    return found.notes


@pytest.mark.parametrize("by_ids", [True, False], ids=["cut by the log", "cut by the text"])
@pytest.mark.parametrize(
    ("written", "alike"),
    [
        pytest.param('{"id": 12, "why": "late é"}', True, id="as logged"),
        pytest.param('{"why":"late \\u00e9","id":12}', True, id="other spacing, order and escapes"),
        pytest.param('"{\\"id\\": 12, \\"why\\": \\"late é\\"}"', True, id="JSON in a text"),
        pytest.param('{"id": 13, "why": "late é"}', False, id="another number"),
        pytest.param('{"id": 12}', False, id="one less"),
    ],
)
def test_arguments_are_compared_with_what_the_ids_of_a_call_spell(load, written, alike, by_ids):
    assert called(load(), written, {"id": 12, "why": "late é"}, by_ids) == (() if alike else (OTHER,))


def test_so_they_are_where_ids_are_logged_span_by_span(load):
    assert called(load(), '{"id": 1}', {"id": 1}, True, turn=False) == ()
    assert called(load(), '{"id": 2}', {"id": 1}, True, turn=False) == (OTHER,)


def test_a_tokenizer_that_cannot_write_the_arguments_says_nothing(tmp_path):
    renderer = Renderer.load(word_level(tmp_path / "words", CHATML))
    assert OTHER not in called(renderer, '{"zebra": "z-1_2"}', {"zebra": "z-1_2"}, True)


# ---------------------------------------------------------------- thinking that stood in the answer


def test_thinking_in_an_answer_is_noted_where_the_template_writes_it_otherwise(load, changed):
    renderer, other = load(), changed(("<think>", "<reason>"), ("</think>", "</reason>"))
    inline = [ASK, Span("reasoning", 0, text="hm", inferred=True), answer(text="Yes.")]
    apart = [ASK, Span("reasoning", 0, text="hm"), answer(text="Yes.")]
    assert aligned(inline, renderer).notes == ()
    assert aligned(inline, other).notes == (INLINE,)
    assert aligned(apart, other).notes == ()


def test_a_generation_prompt_may_hold_the_opening_tag(changed):
    asks = "add_generation_prompt %}{{- '<|im_start|>assistant\\n"
    opened = changed((asks, f"{asks}<think>\\n"))
    inline = [ASK, Span("reasoning", 0, text="hm", inferred=True), answer(text="Yes.")]
    assert aligned(inline, opened).notes == ()


def test_calls_written_into_the_answer_are_part_of_it(load):
    raw = '{"id": 1}'
    call = Span("tool_call", 0, name="get", arguments={"id": 1}, arguments_raw=raw, inferred=True)
    spans = [ASK, Span("reasoning", 0, text="hm", inferred=True), answer(text=f"get {raw}"), call]
    assert aligned(spans, load()).notes == ()


def test_tokens_of_lost_arguments_stay_with_their_call(tmp_path):
    """The note changes no number: the ids are what was sampled."""
    renderer = Renderer.load(byte_level(tmp_path / "bytes"))
    call = renderer.ids(SAMPLED % '{"id": 2}')
    spans = [ASK, Span("tool_call", 0, name="get", arguments={"id": 1})]
    found = aligned(spans, renderer, turns=[TurnTokens(0, renderer.ids("Hi"), call)])
    assert found.notes == (OTHER,)
    np.testing.assert_array_equal(found.rows[0].advantages, [2.0] * len(call))
