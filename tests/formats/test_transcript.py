"""Which result answers which call, in the order that was logged and in every other."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.hostile import steps
from trajcredit.formats.parts import Arguments
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Trajectory, check

NOTHING = Arguments({}, None)


def made(script: str, as_id: Callable[[str], str] = str) -> Transcript:
    """A transcript from words: `u`, `a` = user, answer; `c:id:tool`, `r:id:tool` = call, result; `|` = a new turn."""
    transcript = Transcript()
    for index, word in enumerate(script.split()):
        kind, given, tool, *_ = [*word.split(":"), "", ""]
        call_id = as_id(given) if given else None
        if kind == "|":
            transcript.begin_turn()
        elif kind == "c":
            transcript.call(tool or "look", call_id, NOTHING, index)
        elif kind == "r":
            transcript.result("", call_id, tool or None, None, index)
        else:
            transcript.add("user" if kind == "u" else "assistant", kind, index)
    transcript.finish()
    return transcript


def pairs(transcript: Transcript) -> list[tuple[int, int]]:
    return [(s.result_of, i) for i, s in enumerate(transcript.spans) if s.result_of is not None]


def notes(transcript: Transcript) -> list[tuple[str, int | None]]:
    return [(note.code, note.span) for note in transcript.notes]


@pytest.mark.parametrize(
    ("script", "expected", "codes"),
    [
        pytest.param("| c:x r:x | a", [(0, 1)], [], id="a result answers the call of its id"),
        pytest.param("| c:x c:y r:y r:x", [(1, 2), (0, 3)], [], id="parallel results come in any order"),
        pytest.param("| c:x r:x | c:x r:x", [(0, 1), (2, 3)], [], id="an id that comes back names the call still open"),
        pytest.param(
            "| c:x | c:x r:x r:x", [(1, 2), (0, 3)], [], id="of two open calls with one id the later is answered first"
        ),
        pytest.param(
            "| c:x c:x r:x r:x",
            [(0, 2), (1, 3)],
            [("duplicate-call-id", 1)],
            id="two calls of one turn with one id are answered in order",
        ),
        pytest.param(
            "| c::look c::book r::book r::look",
            [(1, 2), (0, 3)],
            [("paired-by-name", 2), ("paired-by-name", 3)],
            id="without ids the tool decides",
        ),
        pytest.param(
            "| c::look c::look r::look r::look",
            [(0, 2), (1, 3)],
            [("paired-by-name", 2), ("paired-by-name", 3)],
            id="and of one tool the order",
        ),
        pytest.param(
            "| c:x:look c:y:book r r",
            [(0, 2), (1, 3)],
            [("paired-by-position", 2), ("paired-by-position", 3)],
            id="without id and tool the position decides",
        ),
        pytest.param(
            "| c::look r::lookup", [(0, 1)], [("paired-by-position", 1)], id="a tool of another name is no obstacle"
        ),
        pytest.param(
            "| c::look | c::book r::look",
            [(1, 2)],
            [("paired-by-position", 2), ("unanswered-call", 0)],
            id="only calls of the last turn are asked for their tool",
        ),
        pytest.param(
            "| c:x:look | a u r", [(0, 3)], [("paired-by-position", 3)], id="the only open call, however long ago"
        ),
        pytest.param(
            "| c::look r:z", [(0, 1)], [("paired-by-position", 1)], id="an unknown id may answer a call without one"
        ),
        pytest.param(
            "| c:x:look r:z",
            [],
            [("orphan-result", 1), ("unanswered-call", 0)],
            id="two ids that differ are no pair",
        ),
        pytest.param(
            "| c:x:look c:y:book r:z:look r:y",
            [(0, 2), (1, 3)],
            [("paired-by-rewritten-id", 2)],
            id="but for the one call of its tool that got no other result: something rewrote the id",
        ),
        pytest.param(
            "| c:x:look c:y:look r:v:look r:w:look",
            [(0, 2), (1, 3)],
            [("paired-by-rewritten-id", 2), ("paired-by-rewritten-id", 3)],
            id="if all ids of a tool were rewritten they go in order",
        ),
        pytest.param(
            "| c:x:look r:z:look r:x:look",
            [(0, 2)],
            [("orphan-result", 1)],
            id="its own result comes later: nothing is taken from it",
        ),
        pytest.param(
            "| c:x:look c:y:look r:z:look",
            [],
            [("orphan-result", 2), ("unanswered-call", 0), ("unanswered-call", 1)],
            id="of two calls of its tool nobody knows which",
        ),
        pytest.param(
            "| c:x:look | a r:z:look",
            [],
            [("orphan-result", 2), ("unanswered-call", 0)],
            id="nor is it that of an earlier turn",
        ),
        pytest.param("u r:x | a", [], [("orphan-result", 1)], id="a result without a call stays an observation"),
        pytest.param("u r | a", [], [("orphan-result", 1)], id="so does one that has not even an id"),
        pytest.param("| c:x r:x r:x", [(0, 1)], [("orphan-result", 2)], id="a second result of one call is an orphan"),
        pytest.param("| a c:x", [], [("unanswered-call", 1)], id="a call without a result stays an action"),
        pytest.param("u", [], [("no-action", None)], id="a log without an action says so"),
        pytest.param("", [], [("no-action", None)], id="so does an empty one"),
    ],
)
def test_which_result_answers_which_call(
    script: str, expected: list[tuple[int, int]], codes: list[tuple[str, int | None]]
) -> None:
    transcript = made(script)
    assert pairs(transcript) == expected
    assert notes(transcript) == codes


@pytest.mark.parametrize(
    ("script", "kinds", "expected"),
    [
        pytest.param("u r:x | c:x | a", "ucra", [(1, 2)], id="a result logged first stands behind its call"),
        pytest.param(
            "u r:x r:y | a c:x c:y u", "uaccrru", [(2, 4), (3, 5)], id="and behind all that its turn produced"
        ),
        pytest.param("r:x | c:x r:z | c:z | a", "crcra", [(0, 1), (2, 3)], id="each behind its own"),
        pytest.param("r:x | c:y r:y c:x", "crcr", [(0, 1), (2, 3)], id="other pairs follow their calls"),
        pytest.param("| c:x r:x r:x | c:x", "crcr", [(0, 1), (2, 3)], id="an id that was answered before waits again"),
    ],
)
def test_a_result_logged_before_its_call(script: str, kinds: str, expected: list[tuple[int, int]]) -> None:
    transcript = made(script)
    letters = {"user": "u", "assistant": "a", "tool_call": "c", "tool_result": "r"}
    assert "".join(letters[span.kind] for span in transcript.spans) == kinds
    assert pairs(transcript) == expected
    moved = [note.span for note in transcript.notes if note.code == "result-before-call"]
    for span in moved:
        assert span is not None
        assert transcript.spans[span].name == "look"
        assert transcript.spans[span].turn >= 0
    assert moved
    check(Trajectory(id="x", spans=transcript.spans))


words = st.sampled_from(["u", "a", "|", "c:x", "c:y", "c", "r:x", "r:y", "r", "r::look", "r:z", "c:x:book", "r:x:book"])


@given(st.lists(words, max_size=30).map(lambda found: " ".join(["|", *found])))
def test_every_log_becomes_a_valid_transcript_that_loses_no_span(script: str) -> None:
    transcript = made(script)
    check(Trajectory(id="x", spans=transcript.spans))
    answered = [call for call, _ in pairs(transcript)]
    assert len(set(answered)) == len(answered)
    assert sorted(span.message_index or 0 for span in transcript.spans) == [
        i for i, word in enumerate(script.split()) if word != "|"
    ]
    assert all(note.span is None or 0 <= note.span < len(transcript.spans) for note in transcript.notes)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(lambda n: "| " + "c:x " * n + "r:x " * n, id="one id for all calls of a turn"),
        pytest.param(lambda n: "| c:x " * n + "r:x " * n, id="one id for all turns"),
        pytest.param(lambda n: "| " + "c " * n + "r " * n, id="no ids, one turn"),
        pytest.param(lambda n: "| c " * n + "r " * n, id="no ids, a thousand turns"),
        pytest.param(lambda n: "r:x " * n + "| c:x " * n, id="all results before their calls"),
        pytest.param(lambda n: "| c:x r:z " * n, id="nothing fits"),
    ],
)
def test_ten_times_the_hostile_spans_take_less_than_twenty_times_the_work(script: Callable[[int], str]) -> None:
    small, large = (_work(script(n)) for n in (300, 3000))
    assert small > 300
    assert large < 20 * small


class _Id(str):
    """An id that counts how often it is compared or looked up: work that C code does for one line of ours."""

    __slots__ = ()
    looked_at = 0

    def __eq__(self, other: object) -> bool:
        _Id.looked_at += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        _Id.looked_at += 1
        return str.__hash__(self)


def _work(script: str) -> int:
    """The lines that run, and the looks at ids, until the transcript of a script is finished."""
    _Id.looked_at = 0
    lines = steps(lambda: made(script, _Id))
    return lines + _Id.looked_at


def test_arguments_and_problems_travel_with_the_call() -> None:
    transcript = Transcript()
    transcript.begin_turn()
    transcript.call(None, "x", Arguments(None, "{", ("broken-arguments", "are not JSON")), 3, "planner")
    transcript.finish()
    [call] = transcript.spans
    assert msgspec.to_builtins(call) == {
        "kind": "tool_call",
        "turn": 0,
        "message_index": 3,
        "agent": "planner",
        "call_id": "x",
        "arguments_raw": "{",
    }
    assert notes(transcript) == [("broken-arguments", 0), ("unnamed-call", 0), ("unanswered-call", 0)]


def test_what_the_log_has_beside_the_text_is_marked_from_a_span_on() -> None:
    transcript = Transcript()
    transcript.add("user", "Hi", 0)
    transcript.begin_turn()
    transcript.add("assistant", "Hello", 1)
    transcript.mark(1, started_at="2026-03-01", ended_at=None)
    assert [(span.started_at, span.ended_at) for span in transcript.spans] == [(None, None), ("2026-03-01", None)]


def test_what_a_turn_cost_is_on_its_first_action_and_the_last_word_counts() -> None:
    transcript = Transcript()
    transcript.add("user", "Hi", 0)
    transcript.count({"output_tokens": 9}, 0)
    transcript.begin_turn()
    transcript.add("reasoning", "Hm.", 1)
    transcript.add("assistant", "Hello", 1)
    transcript.count({"output_tokens": 1}, 0)
    transcript.count({"output_tokens": 5}, 1)
    transcript.count(None, 1)
    assert [span.usage for span in transcript.spans] == [None, {"output_tokens": 5}, None]


def test_a_result_known_by_the_span_of_its_call_answers_it_once() -> None:
    transcript = Transcript()
    transcript.begin_turn()
    transcript.call("look", "x", Arguments({}, None), 0)
    transcript.answer(0, "first", True, 1)
    transcript.answer(0, "again", None, 2)
    transcript.finish()
    assert [(span.name, span.call_id, span.result_of) for span in transcript.spans[1:]] == [
        ("look", "x", 0),
        ("look", "x", None),
    ]
    assert notes(transcript) == [("orphan-result", 2)]


def test_spans_that_moved_are_found_again() -> None:
    transcript = Transcript()
    transcript.result("early", "x", None, None, 0)
    transcript.begin_turn()
    transcript.call("look", "x", Arguments({}, None), 1)
    transcript.finish()
    assert transcript.moved == {1: 0, 0: 1}
    assert [span.kind for span in transcript.spans] == ["tool_call", "tool_result"]


def test_what_is_said_before_the_first_span_is_about_the_whole() -> None:
    transcript = Transcript()
    transcript.note("odd", "nothing yet")
    assert [note.span for note in transcript.notes] == [None]
