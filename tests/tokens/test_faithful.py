"""A rendering counts only with the words of the log, in their order; what is guessed or left out is noted."""

from __future__ import annotations

import pytest

from tests.tokens.hand import ASK, CALL, RESULT, RESULTS, SAY, aligned, texts, why
from tests.tokens.tokenizers import byte_level, sentencepiece_like, word_level
from trajcredit.model import Note, Span
from trajcredit.tokens import Renderer


@pytest.mark.parametrize(
    ("change", "spans", "span", "reason"),
    [
        pytest.param(
            ("message.content or ''", "(message.content or '') | upper"),
            [ASK, Span("assistant", 0, text="I paid 5 dollars.")],
            1,
            "the chat template writes 'I PAID 5 DOLLARS.' where the log has 'I paid 5 dollars.'",
            id="upper case",
        ),
        pytest.param(
            ("message.content or ''", "(message.content or '').replace('paid', 'refunded')"),
            [ASK, Span("assistant", 0, text="Today, as was agreed, I paid 5 dollars.")],
            1,
            "agreed, I refunded 5 dollars.' where the log has 'agreed, I paid 5 dollars.'",
            id="a replaced word",
        ),
        pytest.param(
            ("message.content or ''", "(message.content or '').split() | join(' ')"),
            [ASK, Span("assistant", 0, text="def f():\n    return 1\n")],
            1,
            "'def f(): return 1' where the log has 'def f():\\n    return 1'",
            id="lines joined",
        ),
        pytest.param(
            ("message.content or ''", "'' if message.tool_calls else (message.content or '')"),
            [ASK, SAY, Span("tool_call", 0, name="get", arguments={"say": "Yes."}), RESULTS[1]],
            1,
            "where the log has 'Yes.'",
            id="a text left out that stands elsewhere",
        ),
        pytest.param(
            ("+ call.function.name", "+ call.function.name | upper"),
            [ASK, CALL, RESULT],
            1,
            "writes 'GET' where the log has 'get'",
            id="another name",
        ),
        pytest.param(
            ("+ call.function.name", "+ call.function.name ~ '_all'"),
            [ASK, CALL, RESULT],
            1,
            "writes 'get_all' where the log has 'get'",
            id="a longer name",
        ),
        pytest.param(
            ("call.function.arguments | tojson", "'{}'"),
            [ASK, CALL, RESULT],
            1,
            "where the log has '{\"id\":1}'",
            id="no arguments",
        ),
        pytest.param(
            ("call.function.arguments | tojson", "dict(call.function.arguments, why=2) | tojson"),
            [ASK, CALL, RESULT],
            1,
            '"why": 2}',
            id="more arguments",
        ),
    ],
)
def test_a_template_that_writes_other_words_is_refused(changed, change, spans, span, reason):
    for more in ([], [Span("user", 0, text="So?"), Span("assistant", 1, text="No.")]):
        if "upper" in change[1] and more:
            more = [more[0], Span("assistant", 1, text="1.")]
        turn, at, why_not = why(aligned([*spans, *more], changed(change)))
        assert (turn, at) == (0, span)
        assert reason in why_not


def test_a_name_may_stand_in_the_id_of_its_call(changed):
    renderer = changed(("call.function.name", "call.id"))
    call = Span("tool_call", 0, name="get", arguments={"id": 1}, call_id="functions.get:0")
    found = aligned([ASK, call, RESULT], renderer)
    assert '"name": "functions.get:0", "arguments": {"id": 1}' in texts(found, renderer)[0][2][1]
    assert "found by their text" in found.notes[0]
    nameless = aligned([ASK, Span("tool_call", 0, name="get", arguments={"id": 1}, call_id="c1"), RESULT], renderer)
    assert why(nameless)[:2] == (0, 1)


def test_white_space_at_the_ends_is_the_templates_own(changed):
    renderer = changed(("message.content or ''", "(message.content or '').strip() ~ ' '"))
    found = aligned([ASK, Span("assistant", 0, text="\n a  b ")], renderer)
    assert texts(found, renderer)[0][1] == "a  b <|im_end|>"


def test_a_tokenizer_that_loses_text_is_noted(tmp_path):
    loses = "the tokenizer loses text: its ids do not spell what the policy wrote"
    spans = [ASK, Span("assistant", 0, text="Zürich, zebra")]
    assert loses in aligned(spans, Renderer.load(word_level(tmp_path / "words"))).notes
    assert loses not in aligned(spans, Renderer.load(byte_level(tmp_path / "bytes"))).notes
    pieces = Renderer.load(sentencepiece_like(tmp_path / "pieces"))
    assert aligned([ASK, Span("assistant", 0, text=" the user")], pieces).notes == ()
    assert loses in aligned([ASK, Span("assistant", 0, text="日本")], pieces).notes


def test_an_order_that_the_template_changes_is_refused(load):
    renderer = load()
    call = Span("tool_call", 0, name="get", arguments={}, inferred=True)
    spans = [ASK, SAY, call, Span("assistant", 0, text="post"), Span("tool_result", 0, text="a", result_of=2)]
    turn, span, reason = why(aligned(spans, renderer))
    assert (turn, span) == (0, 3)
    assert reason == "the chat template writes assistant before tool_call, which the log has the other way round"
    thought_last = why(aligned([ASK, SAY, Span("reasoning", 0, text="hm")], renderer))
    assert thought_last[:2] == (0, 2)


def test_calls_that_were_written_as_text_are_noted(load):
    written = "calls that the policy wrote as text are written as the template writes calls"
    for inferred, notes in ((True, (written,)), (False, ())):
        call = Span("tool_call", 0, name="get", arguments={}, inferred=inferred)
        assert aligned([ASK, SAY, call, RESULTS[1]], load()).notes == notes
    raw = '{"id": 1}'
    held = Span("tool_call", 0, name="get", arguments={"id": 1}, arguments_raw=raw, inferred=True)
    found = aligned([ASK, Span("assistant", 0, text=f"get {raw} now"), held], load())
    assert found.notes == ()
    assert {owned.span for owned in found.rows[0].spans} == {1, 2}


@pytest.mark.parametrize(
    ("text", "restart"),
    [
        ("Notice: please summarize your findings at the end.", False),
        ("Your context is compact enough.", False),
        ("Summarize the conversation in three lines.", False),
        ("The tool failed: no summary of events", False),
        ("Conversation compacted (trigger auto, preTokens 50000)", True),
        ("This session is being continued from a previous conversation that ran out of context.", True),
        ("## Summary of the conversation so far\nThey said hi.", True),
        ("Summary: they said hi.", True),
        ("Here is a summary of the work done:", True),
        ("12 events were forgotten", True),
        ("the context was rewritten", True),
        ("context condensed", True),
        ("Performed context summarization and handoff to continue task.", True),
        ('{"encrypted_content":"x","type":"compaction"}', True),
        ('{"type":"mcp_list_tools","summary":"compaction"}', False),
    ],
)
def test_a_context_begins_anew_only_where_a_text_begins_like_a_summary(load, text, restart):
    spans = [ASK, SAY, Span("meta", 0, text=text), Span("assistant", 1, text="No.")]
    found = aligned(spans, load())
    assert len(found.rows) == 1 + restart
    guessed = "a context restart was guessed from a message that begins like a summary of the conversation"
    assert found.notes == ((guessed,) if restart else ())
    noted = aligned(spans, load(), report=[Note("context-rewritten", "so", span=2)])
    assert (len(noted.rows), noted.notes) == (2, ())


def test_parts_that_are_no_text_and_turns_without_words_are_noted(load):
    spans = [Span("user", -1, text="look\n[image_url]"), Span("assistant", 0, text="A cat.")]
    found = aligned(spans, load(), report=[Note("opaque-part", "holds image_url", span=0)])
    assert found.notes == (
        "parts that are no text are left out of prompts: markers such as [image_url] stand for them",
    )
    found = aligned(spans, load(), report=[Note("opaque-part", "holds image_url", span=1)])
    assert found.notes == ("parts of answers that are no text are trained as the markers that stand for them",)
    spans = [ASK, Span("user", 0, text="again"), Span("assistant", 1, text="Yes.")]
    assert aligned(spans, load()).notes == (
        "turns of which the log has no words are left out of prompts (an empty answer, say)",
    )


def test_a_budget_that_ends_in_the_prompt_names_the_turn(load):
    renderer = load()
    n = len(aligned([ASK, SAY], renderer).rows[0].prompt_ids)
    reason = f"max_tokens {n} leaves no token to train (the prompt has {n})"
    assert why(aligned([ASK, SAY], renderer, max_tokens=n)) == (0, 1, reason)
    assert aligned([ASK, SAY], renderer, max_tokens=n + 1).rows[0].trained == 1
