"""Failures that only the text of a result tells: flagged for every format, and never against the log's own flag."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.logs import codes
from trajcredit.formats import read_bytes
from trajcredit.graph import build_graphs, failures
from trajcredit.model import Trajectory, decode, encode


def read(text: str, **flags: Any) -> Trajectory:
    ask = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    row = {"messages": [ask, {"role": "tool", "tool_call_id": "a", "content": text, **flags}]}
    [found] = read_bytes(json.dumps(row).encode(), "a.json")
    assert isinstance(found, Trajectory)
    return found


@pytest.mark.parametrize(
    ("text", "flags", "error"),
    [
        pytest.param("Error: no such town", {}, True, id="a word at the start"),
        pytest.param("HTTP 503: try later", {}, True, id="a status in the text"),
        pytest.param('{"error": "denied"}', {}, True, id="a field of an object"),
        pytest.param("ran\nexit code: 2", {}, True, id="an exit code"),
        pytest.param("no errors found", {}, None, id="a word that only looks like it"),
        pytest.param("sunny", {}, None, id="nothing is said: unknown, not fine"),
        pytest.param("Error: no such town", {"is_error": False}, False, id="the log says that it is none"),
        pytest.param("sunny", {"is_error": True}, True, id="the log says that it is one"),
    ],
)
def test_an_error_that_the_text_tells_is_flagged_and_said(text: str, flags: Any, error: bool | None) -> None:
    found = read(text, **flags)
    assert found.spans[1].error is error
    assert ("error-in-text" in codes(found)) == (error is True and not flags)
    assert [note.span for note in found.report] == [1] * len(found.report)


@pytest.mark.parametrize("text", ["Error: x", "Traceback (most recent call last)", "fine", '{"ok": false}', ""])
def test_span_and_graph_say_the_same(text: str) -> None:
    found = read(text)
    [graph] = build_graphs([found])
    assert bool(graph.is_error[1]) == (found.spans[1].error is True)


def test_it_is_said_once_however_often_the_run_is_written_and_read() -> None:
    found = read("Error: no such town")
    [again] = read_bytes(encode(found) + b"\n", "b.jsonl")
    assert isinstance(again, Trajectory)
    assert again == found == decode(encode(found))


WORDS = [
    *("Traceback (most recent call last)", "exit code 1", "exited with status: 2", "exit code", "exit status 0"),
    *("sh: x: command not found", "a.sh: line 3: No such file", "b: Permission denied", "[Errno 2]", "[Errno x]"),
    *("introduced new syntax error", "introduced syntax error", "introduced", "ValueError: y", "AnException: z"),
    *('"error": 1', '"ERROR": 1', '"errors": []', '"exception": "e"', '"error_message": null', '"ok": false'),
    *('"success": 0', '"status": "failed"', '"state": "denied"', '"result": "timeout"', '"exit_code": 0'),
    *('"return_code": -1', "'returncode': 2", '"status": "rejected"', '"succeeded": false', '"code": 1', "fine"),
]


@pytest.mark.parametrize("start", ["", "\n", "{", '[{"a": 1, ', "well, ", "x" * 290, '{"code": "' + "y" * 280])
def test_words_that_are_asked_first_hide_nothing_from_the_patterns(start: str) -> None:
    for text in (f"{start}{left}{between}{right}" for left in WORDS for right in WORDS for between in (", ", "\n")):
        head, tail = text[: failures.HEAD], text[-failures.TAIL :]
        may = any(word in head for word in ("rror", "ucce", '"ok', "code", "xception", "enied", "ejected", "imeout"))
        may = may or "ailed" in head or "ailure" in head
        told = failures._START.match(head) or (head[0] in "{[" and may and failures._FIELDS.search(head))
        told = told or failures._ANYWHERE.search(head) or failures._ANYWHERE.search(tail)
        assert failures.tells_failure(text) == bool(told), text


def test_no_failure_begins_with_a_letter_that_is_passed_over() -> None:
    rest = ("error", "failed", "http 500", "404 not found", "usage:", "tool error", "rate limit", "no such", "invalid")
    for letter in failures._NEVER:
        assert not any(failures._START.match(letter + word[cut:]) for word in rest for cut in (0, 1)), letter
