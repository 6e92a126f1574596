"""Rows from text, by hand: what a template writes, who owns which characters of it, and what is refused."""

from __future__ import annotations

import pytest

from tests.tokens.hand import ASK, CALL, RESULTS, SAY, THINK, aligned, texts, why
from tests.tokens.tokenizers import CHATML, FORGETFUL, MARKED
from trajcredit.model import Note, Span, SpanTokens, Tool, TurnTokens


def test_a_turn_is_what_the_template_writes_up_to_its_end_token(load):
    renderer = load()
    found = aligned([ASK, THINK, SAY, CALL, Span("tool_result", 0, text="ok", result_of=3)], renderer)
    prompt, response, owned = texts(found, renderer)[0]
    assert prompt == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    sampled = (
        '<think>\nhm\n</think>\n\nYes.\n<tool_call>\n{"name": "get", "arguments": {"id": 1}}\n</tool_call><|im_end|>'
    )
    rest = "\n<|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n"
    assert response == sampled + rest
    assert owned == {
        1: "<think>\nhm\n</think>",
        2: "\n\nYes.",
        3: '\n<tool_call>\n{"name": "get", "arguments": {"id": 1}}\n</tool_call><|im_end|>',
    }
    [row] = found.rows
    assert row.ids_source == "retokenized"
    assert row.logprobs is None
    assert row.trained == len(renderer.ids(sampled))
    assert found.notes == ()


def test_a_conversation_goes_on_in_one_row(load):
    renderer = load()
    spans = [ASK, SAY, Span("user", 0, text="So?"), Span("assistant", 1, text="No.")]
    [(prompt, response, owned)] = texts(aligned(spans, renderer), renderer)
    assert prompt == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    between = "\n<|im_start|>user\nSo?<|im_end|>\n<|im_start|>assistant\n"
    assert response == f"Yes.<|im_end|>{between}No.<|im_end|>"
    assert owned == {1: "Yes.<|im_end|>", 3: "No.<|im_end|>"}


def test_thinking_that_leaves_the_history_opens_a_row(load):
    renderer = load(FORGETFUL)
    spans = [ASK, THINK, SAY, Span("user", 0, text="So?"), Span("assistant", 1, text="No.")]
    first, second = texts(aligned(spans, renderer), renderer)
    assert first[1] == "<think>\nhm\n</think>\n\nYes.<|im_end|>"
    assert first[2] == {1: "<think>\nhm\n</think>", 2: "\n\nYes.<|im_end|>"}
    told = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes.<|im_end|>\n<|im_start|>user\nSo?<|im_end|>\n"
    assert second == (told + "<|im_start|>assistant\n", "No.<|im_end|>", {4: "No.<|im_end|>"})


def test_calls_of_one_turn_part_after_the_closing_tag(load):
    renderer = load()
    spans = [ASK, CALL, Span("tool_call", 0, name="get", arguments={"why": "</b>"}), *RESULTS]
    _, _, owned = texts(aligned(spans, renderer), renderer)[0]
    assert owned == {
        1: '\n<tool_call>\n{"name": "get", "arguments": {"id": 1}}\n</tool_call>',
        2: '\n<tool_call>\n{"name": "get", "arguments": {"why": "</b>"}}\n</tool_call><|im_end|>',
    }


def test_an_empty_span_beside_others_owns_nothing_and_alone_everything(load):
    renderer = load()
    both = [ASK, Span("reasoning", 0, text=""), SAY]
    assert texts(aligned(both, renderer), renderer)[0][2] == {2: "Yes.<|im_end|>"}
    alone = [ASK, Span("assistant", 0, text="")]
    assert texts(aligned(alone, renderer), renderer)[0][2] == {1: "<|im_end|>"}


def test_white_space_around_a_text_is_its_own_where_the_template_keeps_it(load):
    spans = [ASK, Span("assistant", 0, text=" Yes. \n"), Span("tool_call", 0, name="get", arguments={})]
    spans.append(Span("tool_result", 0, text="a", result_of=2))
    renderer = load()
    assert texts(aligned(spans, renderer), renderer)[0][2][1].startswith(" Yes. ")
    renderer = load(FORGETFUL)
    assert texts(aligned(spans, renderer), renderer)[0][2][1] == "Yes."


def test_a_token_on_a_border_belongs_to_its_first_character(load):
    """`\\n` of the text and `\\n` before the tag are one token where the tokenizer says so."""
    renderer = load()
    spans = [ASK, Span("assistant", 0, text="a\n"), CALL, Span("tool_result", 0, text="a", result_of=2)]
    found = aligned(spans, renderer)
    owned = texts(found, renderer)[0][2]
    assert (
        "".join(owned.values()) == 'a\n\n<tool_call>\n{"name": "get", "arguments": {"id": 1}}\n</tool_call><|im_end|>'
    )
    assert found.rows[0].trained == sum(o.end - o.start for o in found.rows[0].spans)


def test_the_end_token_can_be_left_untrained(load):
    renderer = load(stop=False)
    [(_, response, owned)] = texts(aligned([ASK, SAY], renderer), renderer)
    assert (response, owned) == ("Yes.<|im_end|>", {1: "Yes."})


def test_marks_of_the_template_say_what_is_sampled(load):
    renderer = load(MARKED)
    found = aligned([ASK, SAY], renderer)
    assert texts(found, renderer)[0][1:] == ("Yes.<|im_end|>", {1: "Yes.<|im_end|>"})
    assert found.notes == ()
    late = load(MARKED.replace("{%- generation %}{{-", "{{- '[' }}{%- generation %}{{-"))
    found = aligned([ASK, SAY], late)
    assert texts(found, late)[0][2] == {1: "Yes.<|im_end|>"}
    assert found.rows[0].prompt_ids.tolist()[-1:] == late.ids("[")
    assert "marks begin after the generation prompt" in found.notes[0]
    none = load(
        MARKED.replace("(message.content or '') +", "''  +").replace(
            "assistant\\n' }}\n        {%- gen", "assistant\\n' + message.content }}\n        {%- gen"
        )
    )
    turn, span, reason = why(aligned([ASK, SAY], none))
    assert (turn, span) == (0, 1)
    assert "generation marks leave out" in reason


def test_a_compaction_begins_a_row_with_the_system_message_and_the_summary(load):
    renderer = load()
    spans = [
        Span("system", -1, text="Be brief."),
        ASK,
        SAY,
        Span("meta", 0, text="Conversation compacted: they said hi."),
        Span("assistant", 1, text="No."),
    ]
    first, second = texts(aligned(spans, renderer), renderer)
    assert first[2] == {2: "Yes.<|im_end|>"}
    system = "<|im_start|>system\nBe brief.<|im_end|>\n"
    summary = "<|im_start|>user\nConversation compacted: they said hi.<|im_end|>\n<|im_start|>assistant\n"
    assert second == (system + summary, "No.<|im_end|>", {4: "No.<|im_end|>"})


def test_a_notice_is_no_compaction_and_a_note_of_the_reader_is(load):
    renderer = load()
    spans = [ASK, SAY, Span("meta", 0, text="rate limit"), Span("assistant", 1, text="No.")]
    assert len(aligned(spans, renderer).rows) == 1
    spans[2] = Span("user", 0, text="again")
    assert len(aligned(spans, renderer, report=[Note("context-rewritten", "so", span=2)]).rows) == 2


def test_tools_are_in_the_prompt(load):
    renderer = load()
    found = aligned([ASK, SAY], renderer, tools=[Tool("get", parameters={"é": 1})])
    assert (
        '# Tools\n{"type": "function", "function": {"name": "get", "parameters": {"é": 1}}}'
        in texts(found, renderer)[0][0]
    )


def test_a_template_that_spoils_marks_is_searched_for_the_text(load):
    renderer = load(CHATML.replace("message.content or ''", "(message.content or '')[:4]"))
    found = aligned([ASK, SAY], renderer)
    assert texts(found, renderer)[0][1:] == ("Yes.<|im_end|>", {1: "Yes.<|im_end|>"})
    assert "found by their text" in found.notes[0]


@pytest.mark.parametrize(
    ("change", "spans", "span", "reason"),
    [
        pytest.param(
            ("message.content or ''", "'' "),
            [ASK, SAY],
            1,
            "writes '<|im_end|>\\n' where the log has 'Yes.'",
            id="a text left out",
        ),
        pytest.param(
            ("message.reasoning_content", "message.x"), [ASK, THINK, SAY], 1, "where the log has 'hm'", id="no thinking"
        ),
        pytest.param(
            ("{{- '<|im_start|>assistant\\n' }}{%- endif", "{{- 'now:' }}{%- endif"),
            [ASK, SAY],
            1,
            "does not go on with its prompt: 'now:' in the prompt",
            id="another generation prompt",
        ),
        pytest.param(
            ("{%- for message", "{{ raise_exception('no') }}{%- for message"), [ASK, SAY], 1, "no", id="refusal"
        ),
        pytest.param(("x", "x"), [ASK, SAY, Span("tool_result", 0, text="a")], None, "answers no call", id="an orphan"),
    ],
)
def test_what_a_template_cannot_show_is_refused_with_its_place(load, change, spans, span, reason):
    old, new = change
    found = why(aligned(spans, load(CHATML.replace(old, new, 1))))
    assert found[1] == span
    assert reason in found[2]


def test_sampled_ids_without_prompts_are_taken_where_they_spell_what_is_rendered(load):
    renderer = load()
    letters = [renderer.ids(letter)[0] for letter in "Yes."]  # not what the tokenizer would make of the word
    turns = [TurnTokens(0, None, letters, [-1.0, -2.0, -3.0, -4.0])]
    found = aligned([ASK, SAY, Span("user", 0, text="So?")], renderer, turns=turns)
    [row] = found.rows
    assert row.response_ids.tolist()[:5] == [*letters, *renderer.ids("<|im_end|>")]
    assert row.response_mask.tolist()[:5] == [1, 1, 1, 1, 0]
    assert row.logprobs is not None
    assert row.logprobs.tolist()[:5] == [-1.0, -2.0, -3.0, -4.0, 0.0]
    assert row.ids_source == "retokenized"
    assert "prompts were rendered" in found.notes[0]
    other = aligned([ASK, SAY], renderer, turns=[TurnTokens(0, None, renderer.ids("Yes!"))])
    assert "'!' was sampled, '.<|im_end|>' is rendered" in why(other)[2]
    assert "pass a tokenizer" in why(aligned([ASK, SAY], None, turns=turns))[2]


def test_a_mask_of_sampled_ids_without_prompts_counts(load):
    renderer = load()
    ids = renderer.ids("Yes.")

    def found(mask, *more):
        said = Span("assistant", 0, text="Yes.", tokens=SpanTokens(mask=mask))
        spans = [ASK, said, *more, Span("user", 0, text="So?"), Span("assistant", 1, text="Yes.")]
        return aligned(spans, renderer, turns=[TurnTokens(0, None, ids), TurnTokens(1, None, ids)])

    own = [1] * (len(ids) - 1) + [0]
    [row] = found(own).rows
    assert row.response_mask.tolist()[: len(ids)] == own
    assert row.trained == 2 * len(ids) - 1
    assert found([0] * len(ids)).rows[0].trained == len(ids)
    assert why(found([1, 0, 1, 0, 1]))[:2] == (0, 1)
    assert "does not tell of each" in why(found(own, CALL))[2]


def test_a_turn_logged_in_one_piece_is_cut_by_its_text(load):
    renderer = load()
    sampled = renderer.ids("<think>\nhm é🛶\n</think>\n\nYes.\n<tool_call>\n{'get': 1}</tool_call>")
    spans = [Span("reasoning", 0, text="hm é🛶"), SAY, Span("tool_call", 0, name="get", arguments={"id": 1})]
    found = aligned(spans, renderer, turns=[TurnTokens(0, [1], sampled)])
    assert texts(found, renderer)[0][2] == {
        0: "<think>\nhm é🛶\n</think>",
        1: "\n\nYes.",
        2: "\n<tool_call>\n{'get': 1}</tool_call>",
    }
    assert found.rows[0].ids_source == "engine"
    lost = aligned([*spans[:1], Span("assistant", 0, text="No.")], renderer, turns=[TurnTokens(0, [1], sampled)])
    assert why(lost)[:2] == (0, 1)


def test_a_name_within_a_closing_tag_is_not_the_call(load):
    renderer = load()
    sampled = renderer.ids("<think>\nhm\n</think>\n<tool_call>\nthink(1)\n</tool_call>")
    spans = [THINK, Span("tool_call", 0, name="think", arguments={})]
    found = aligned(spans, renderer, turns=[TurnTokens(0, [1], sampled)])
    assert texts(found, renderer)[0][2][0] == "<think>\nhm\n</think>"


def test_logprobs_without_ids_are_left_out_and_said_so(load):
    found = aligned([ASK, SAY], load(), turns=[TurnTokens(0, logprobs=[-1.0])])
    assert found.rows[0].logprobs is None
    assert found.notes == ("log-probs are logged without the ids they belong to: left out",)


def test_a_mask_of_spans_holds_with_a_tokenizer_too(load):
    spans = [ASK, Span("assistant", 0, text="Yes.", tokens=SpanTokens([1, 2], mask=[0, 0]))]
    assert "mask is 0 throughout" in why(aligned(spans, load()))[2]


def test_a_rewritten_context_with_a_system_message_of_its_own_has_no_other(load):
    renderer = load()
    new = Span("system", 0, text="Be long.")
    spans = [
        Span("system", -1, text="Be brief."),
        ASK,
        SAY,
        new,
        Span("user", 0, text="Hi"),
        Span("assistant", 1, text="No."),
    ]
    found = aligned(spans, renderer, report=[Note("context-rewritten", "so", span=3)])
    told = "<|im_start|>system\nBe long.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert texts(found, renderer)[1][0] == told


def test_a_text_that_holds_marking_characters_is_found_by_its_words(load):
    renderer = load()
    spans = [Span("user", -1, text="\U00100000"), Span("assistant", 0, text="\U00100000\U00100001 yes")]
    found = aligned(spans, renderer)
    assert texts(found, renderer)[0][2] == {1: "\U00100000\U00100001 yes<|im_end|>"}
    assert "found by their text" in found.notes[0]


def test_calls_written_in_a_way_of_their_own_end_with_their_values(load):
    ours = """'\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
            {{- call.function.arguments | tojson + '}\\n</tool_call>'"""
    theirs = "';' + call.function.name + '(' }}{% for k, v in call.function.arguments.items() %}{{- k ~ '=' ~ v }}"
    renderer = load(CHATML.replace(ours, theirs + "{% endfor %}{{- ')'"))
    spans = [ASK, CALL, Span("tool_call", 0, name="get", arguments={"id": 2}), *RESULTS]
    assert texts(aligned(spans, renderer), renderer)[0][2] == {1: ";get(id=1)", 2: ";get(id=2)<|im_end|>"}
    silent = load(CHATML.replace(ours, "';' + call.function.name + '(' }}{{- ')'"))
    turn, span, reason = why(aligned(spans, silent))
    assert (turn, span) == (0, 1)
    assert "arguments of get are not found" in reason


def test_a_rendering_that_marks_change_does_not_count(load):
    """The template writes how long a text is: with marks in it that is another number."""
    renderer = load(CHATML.replace("message.content or '' }}", "message.content | length ~ ':' ~ message.content }}"))
    spans = [ASK, SAY, Span("user", 0, text="So?"), Span("assistant", 1, text="No.")]
    found = aligned(spans, renderer)
    assert texts(found, renderer)[0][2] == {1: "4:Yes.<|im_end|>", 3: "3:No.<|im_end|>"}
    assert "found by their text" in found.notes[0]
