"""Calls between the special tokens of a model's family, calls that are nothing but JSON, answers that type commands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_one, texts
from trajcredit.formats.marked import has_marks, marked_calls
from trajcredit.formats.pythonic import calls_in_python
from trajcredit.formats.typed import typed_call
from trajcredit.model import Trajectory

BEGIN, CALL, SEP, END, ENDS = (
    f"<\uff5ctool\u2581{word}\uff5c>"
    for word in ("calls\u2581begin", "call\u2581begin", "sep", "call\u2581end", "calls\u2581end")
)


def chat(answer: str, *after: tuple[str, str], **more: Any) -> Trajectory:
    """A question, this answer, and what follows: role and content."""
    messages = [("user", "go"), ("assistant", answer), *after]
    return read_one({"messages": [{"role": role, "content": text} for role, text in messages], **more})


def asked(got: Trajectory) -> list[tuple[str | None, Any]]:
    assert all(one.inferred for one in calls(got))
    return [(one.name, one.arguments) for one in calls(got)]


@pytest.mark.parametrize(
    ("answer", "wanted", "words"),
    [
        pytest.param(
            '[TOOL_CALLS] [{"name": "f", "arguments": {"n": 1}}, {"name": "g", "arguments": {}}]',
            [("f", {"n": 1}), ("g", {})],
            [],
            id="Mistral: a list",
        ),
        pytest.param(
            'Let me see.[TOOL_CALLS]f{"n": {"m": "}"}}[TOOL_CALLS]g{}</s>',
            [("f", {"n": {"m": "}"}}), ("g", {})],
            ["Let me see."],
            id="Mistral: names before objects",
        ),
        pytest.param('[TOOL_CALLS]f[ARGS]{"n": 1}', [("f", {"n": 1})], [], id="Mistral: a token before arguments"),
        pytest.param(
            '<|python_tag|>{"name": "f", "parameters": {"n": 1}}; {"type": "function", "name": "g", "parameters": {}}',
            [("f", {"n": 1}), ("g", {})],
            [],
            id="Llama 3: objects",
        ),
        pytest.param(
            'Sure.\n<|python_tag|>search.call(query="a b")<|eom_id|>',
            [("search", {"query": "a b"})],
            ["Sure."],
            id="Llama 3: a tool it was taught",
        ),
        pytest.param(
            "<|python_tag|>import os\nprint(os.getcwd())<|eom_id|>",
            [("python", {"code": "import os\nprint(os.getcwd())"})],
            [],
            id="Llama 3: code",
        ),
        pytest.param(
            f'Hm.{BEGIN}{CALL}function{SEP}f\n```json\n{{"n": 1}}\n```{END}\n'
            f"{CALL}function{SEP}g\n```json\n{{}}\n```{END}{ENDS}",
            [("f", {"n": 1}), ("g", {})],
            ["Hm."],
            id="DeepSeek V3",
        ),
        pytest.param(f'{BEGIN}{CALL}f{SEP}{{"n": 1}}{END}{ENDS}', [("f", {"n": 1})], [], id="DeepSeek V3.1"),
        pytest.param(
            f'{BEGIN}{CALL}f{SEP}{{"n": 1}}{END}{ENDS}'.replace("\uff5c", "|").replace("\u2581", "_"),
            [("f", {"n": 1})],
            [],
            id="DeepSeek, in plain letters",
        ),
        pytest.param('{"name": "f", "parameters": {"n": 1}}', [("f", {"n": 1})], [], id="nothing but JSON"),
    ],
)
def test_written_calls_are_calls_with_results(answer: str, wanted: list[Any], words: list[str]) -> None:
    got = chat(answer, *(("tool", f"r{place}") for place in range(len(wanted))), ("assistant", "Done."))
    assert asked(got) == wanted
    assert texts(got, "assistant") == [*words, "Done."]
    assert pairs(got) == [(name, f"r{place}", None) for place, (name, _) in enumerate(wanted)]
    assert "written-call" in codes(got)


def test_an_id_in_the_text_is_the_id_of_the_call() -> None:
    got = chat('[TOOL_CALLS]f[CALL_ID]k3b9xq2ra[ARGS]{"n": 1}')
    assert [one.call_id for one in calls(got)] == ["k3b9xq2ra"]


@pytest.mark.parametrize(
    ("answer", "name", "raw"),
    [
        pytest.param('[TOOL_CALLS] [{"name": "f", "arguments": {', "f", '[{"name": "f", "arguments": {', id="list"),
        pytest.param('[TOOL_CALLS]f{"n": 1', "f", '{"n": 1', id="object"),
        pytest.param('<|python_tag|>{"name": "f", "parameters": {', "f", '{"name": "f", "parameters": {', id="Llama"),
        pytest.param(f'{BEGIN}{CALL}f{SEP}{{"n": ', "f", '{"n":', id="DeepSeek"),
    ],
)
def test_a_call_that_is_cut_off_stays_a_call(answer: str, name: str, raw: str) -> None:
    got = chat(answer)
    assert [(one.name, one.arguments, one.arguments_raw) for one in calls(got)] == [(name, None, raw)]
    assert "broken-arguments" in codes(got)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Mistral writes [TOOL_CALLS] before its calls.", id="Mistral"),
        pytest.param("Llama writes <|python_tag|> before code.", id="Llama"),
        pytest.param(f"DeepSeek writes {CALL} before calls, and {CALL} again.", id="DeepSeek"),
        pytest.param('{"name": "Ann", "parameters": {"age": 41}}', id="JSON that was asked for"),
    ],
)
def test_what_only_speaks_of_calls_is_text(answer: str) -> None:
    got = chat(answer, ("user", "I see."))
    assert kinds(got) == ["user", "assistant", "user"]
    assert texts(got, "assistant") == [answer]
    assert got.report == []


def test_json_alone_is_a_call_of_a_declared_tool() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    assert asked(chat('{"name": "f", "parameters": {}}', ("user", "42"), tools=tools)) == [("f", {})]
    assert not calls(chat('{"name": "g", "parameters": {}}', ("tool", "42"), tools=tools))


@pytest.mark.parametrize(
    "after",
    [
        pytest.param("[TOOL_RESULTS]one[/TOOL_RESULTS][TOOL_RESULTS]two[/TOOL_RESULTS]", id="Mistral"),
        pytest.param(
            "<\uff5ctool\u2581outputs\u2581begin\uff5c><\uff5ctool\u2581output\u2581begin\uff5c>one"
            "<\uff5ctool\u2581output\u2581end\uff5c><\uff5ctool\u2581output\u2581begin\uff5c>two"
            "<\uff5ctool\u2581output\u2581end\uff5c><\uff5ctool\u2581outputs\u2581end\uff5c>",
            id="DeepSeek",
        ),
    ],
)
def test_results_between_tokens_are_told_apart(after: str) -> None:
    got = chat("[TOOL_CALLS]f{}[TOOL_CALLS]g{}", ("user", after))
    assert pairs(got) == [("f", "one", None), ("g", "two", None)]


def test_llama_calls_the_role_of_results_ipython() -> None:
    got = chat('<|python_tag|>{"name": "f", "parameters": {}}', ("ipython", "42"))
    assert pairs(got) == [("f", "42", None)]
    assert "unknown-role" not in codes(got)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[TOOL_CALLS]" * 20_000, id="tokens"),
        pytest.param("[TOOL_CALLS]" + "[" * 100_000, id="brackets"),
        pytest.param("<|python_tag|>" + '{"name": "f", "parameters": {}};' * 5_000 + "x", id="objects"),
        pytest.param("<|tool_call_begin|>f<|tool_sep|>" * 10_000, id="calls"),
        pytest.param('{"keystrokes": ' * 20_000, id="keystrokes"),
        pytest.param(" " * 200_000 + '"keystrokes"', id="blanks"),
        pytest.param("[TOOL_CALLS]" + '"\\' * 100_000, id="escapes"),
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """A text that made the reader compare each place with every other would take minutes: the timeout of a test."""
    if has_marks(text):
        assert list(marked_calls(text, True))
    assert typed_call(text) is None
    assert calls_in_python(text) == []


# ---------------------------------------------------------------- answers that type commands


def typing(*keys: str, **more: Any) -> str:
    commands = [{"keystrokes": key, "duration": 0.1} for key in keys]
    return json.dumps({"analysis": "Nothing yet.", "plan": "Look.", "commands": commands, **more}, indent=2)


def test_an_answer_that_types_commands_is_one_call() -> None:
    got = chat(typing("cd a\n", "ls\n", task_complete=False), ("user", "$ ls\nb.txt"), ("assistant", "Done."))
    assert asked(got) == [("bash_command", {"command": "cd a\nls\n"})]
    assert json.loads(calls(got)[0].arguments_raw or "") == [
        {"keystrokes": "cd a\n", "duration": 0.1},
        {"keystrokes": "ls\n", "duration": 0.1},
    ]
    said = {"analysis": "Nothing yet.", "plan": "Look.", "task_complete": False}
    assert json.loads(texts(got, "assistant")[0]) == said
    assert pairs(got) == [("bash_command", "$ ls\nb.txt", None)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(f"Next:\n```json\n{typing('ls')}\n```", "Next:", id="in a fence, behind words"),
        pytest.param(f"{{x}} {typing('ls')} ok", "{x}", id="behind another bracket"),
        pytest.param('{"commands": [{"keystrokes": "ls"}]}', None, id="alone"),
    ],
)
def test_what_stands_around_the_object_is_said(text: str, words: str | None) -> None:
    *said, call = typed_call(text) or []
    assert call.arguments is not None
    assert call.arguments.value == {"command": "ls"}
    assert [part.text.split("\n")[0] for part in said] == ([words] if words else [])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(typing(task_complete=True), id="nothing is typed"),
        pytest.param('{"commands": [{"keystrokes": 1}]}', id="a number"),
        pytest.param('{"commands": ["keystrokes"], "keystrokes": []}', id="no objects"),
        pytest.param('{"commands": [{"keystrokes": "ls"}', id="cut off"),
        pytest.param('The keys are called "keystrokes".', id="only spoken of"),
    ],
)
def test_what_types_nothing_stays_text(text: str) -> None:
    assert typed_call(text) is None
