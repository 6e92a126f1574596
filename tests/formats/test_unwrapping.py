"""Requests that are logged inside each other: one where they say the same, and nothing is lost where they do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.spans import codes, kinds, only, said, span

ASK, PROMPT = said("user", "Go."), said("system", "Be brief.")


def request(name: str, parent: str | None, at: int, asked: list[Any], *answers: Any, **more: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked}
    if answers:
        attributes["gen_ai.output.messages"] = list(answers)
    return span(name, parent, "chat", at, attributes | more)  # type: ignore[no-any-return]


def thinks(thought: str, text: str) -> dict[str, Any]:
    parts = [{"type": "reasoning", "content": thought}, {"type": "text", "content": text}]
    return {"role": "assistant", "parts": parts}


def inner_of(*asked: Any, answer: str | None = "Done.") -> dict[str, Any]:
    return request("in", "out", 1, list(asked), *([said("assistant", answer)] if answer else []))


DONE = said("assistant", "Done.")


@pytest.mark.parametrize(
    ("outer", "inner", "expected", "noted"),
    [
        pytest.param(
            request("out", None, 0, [ASK], DONE), inner_of(ASK), ["user:Go.", "assistant:Done."], 0, id="the same"
        ),
        pytest.param(
            request("out", None, 0, [ASK], said("assistant", " Done. ")),
            inner_of(ASK),
            ["user:Go.", "assistant:Done."],
            0,
            id="blanks make no difference",
        ),
        pytest.param(
            request("out", None, 0, [ASK], DONE),
            inner_of(PROMPT, ASK),
            ["system:Be brief.", "user:Go.", "assistant:Done."],
            0,
            id="the inner one has the whole prompt",
        ),
        pytest.param(
            request("out", None, 0, [ASK], DONE),
            inner_of(PROMPT, ASK, answer=None),
            ["system:Be brief.", "user:Go.", "assistant:Done."],
            0,
            id="the inner one has the prompt, the outer one the answer",
        ),
        pytest.param(
            request("out", None, 0, [ASK]), inner_of(ASK), ["user:Go.", "assistant:Done."], 0, id="no outer answer"
        ),
        pytest.param(
            request("out", None, 0, [ASK], thinks("Hm.", "Done.")),
            inner_of(PROMPT, ASK),
            ["system:Be brief.", "user:Go.", "reasoning:Hm.", "assistant:Done."],
            0,
            id="only the outer one has the thought",
        ),
        pytest.param(
            request("out", None, 0, [said("user", "Go, with what was found.")], DONE),
            inner_of(ASK),
            ["user:Go.", "meta:Go, with what was found.", "assistant:Done."],
            1,
            id="they were asked otherwise",
        ),
        pytest.param(
            request("out", None, 0, [ASK], said("assistant", "Checked: done.")),
            inner_of(ASK),
            ["user:Go.", "assistant:Done.", "assistant:Checked: done."],
            1,
            id="they answer otherwise",
        ),
        pytest.param(
            request("out", None, 0, [ASK], DONE, said("assistant", "Bye.")),
            inner_of(ASK),
            ["user:Go.", "assistant:Done.", "assistant:Bye."],
            0,
            id="the outer one says all, and more",
        ),
    ],
)
def test_of_two_requests_inside_each_other_nothing_is_lost(
    outer: dict[str, Any], inner: dict[str, Any], expected: list[str], noted: int
) -> None:
    trajectory = only([outer, inner])
    assert [f"{kind}:{text}" for kind, text in kinds(trajectory)] == expected
    assert codes(trajectory).count("nested-request") == noted


def test_a_request_around_several_answers_behind_them_with_what_is_its_own() -> None:
    more = said("user", "More.")
    spans = [
        request("out", None, 0, [ASK], DONE, said("assistant", "All done.")),
        request("a", "out", 1, [ASK], DONE),
        request("b", "out", 2, [ASK, DONE, more], said("assistant", "More done.")),
        request("next", None, 9, [ASK, DONE, more, said("assistant", "More done."), said("user", "Go on.")], DONE),
    ]
    trajectory = only(spans)
    assert [text for _, text in kinds(trajectory)] == [
        "Go.", "Done.", "More.", "More done.", "All done.", "Go on.", "Done.",
    ]  # fmt: skip
    assert [span.turn for span in trajectory.spans] == [-1, 0, 0, 1, 2, 2, 3]


def test_what_the_request_that_is_left_out_knows_is_kept() -> None:
    outer = request("out", None, 0, [ASK], DONE, **{"gen_ai.usage.output_tokens": 7, "gen_ai.request.model": "m"})
    trajectory = only([outer, inner_of(ASK)])
    assert trajectory.spans[1].usage == {"output_tokens": 7}
    assert trajectory.model == "m"


def test_a_failure_of_the_request_around_is_told() -> None:
    outer = request("out", None, 0, [ASK]) | {"status": {"code": "ERROR", "message": "no such schema"}}
    trajectory = only([outer, inner_of(ASK)])
    assert kinds(trajectory) == [("user", "Go."), ("assistant", "Done.")]
    assert [note.message for note in trajectory.report] == [
        "request out failed: no such schema; in, which says the same, did not"
    ]
