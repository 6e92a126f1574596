"""One trajectory as it is looked at: skeleton, text by the window, its canonical line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

import trajcredit as tc
from tests.build import run
from tests.service.scenes import PROJECT
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.graph import build_graphs
from trajcredit.model import Note, Origin, Reward, Span, Tool, Trajectory, body, decode
from trajcredit.service.looking import SpanText, raw_line, skeleton, text_of, texts
from trajcredit.service.rewarding import late
from trajcredit.store import Store

WHOLE = Trajectory(
    id="booking 7",
    task="book",
    group="g",
    role="solver",
    trial="2",
    step=140,
    policy_version="v3",
    model="gpt-5-mini",
    terminated=True,
    truncated=False,
    tools=[Tool("search", writes=False), Tool("pay", writes=True)],
    rewards=[Reward(0.25, span=6, name="check"), Reward(1.0, "human")],
    spans=[
        Span("system", -1, 'Be good. "agent": nobody'),
        Span("user", -1, "Book LHR"),
        Span("reasoning", 0, "Hm"),
        Span("tool_call", 0, name="search", call_id="c1", arguments={"to": "LHR"}, agent="buyer"),
        Span("tool_result", 0, "no such code", name="search", call_id="c1", result_of=3, error=True),
        Span("tool_call", 1, name="pay", call_id="c2", arguments_raw='{"id": 1'),
        Span("assistant", 1, "Done"),
    ],
    report=[Note("odd", "an odd line", span=1)],
    source=Origin("openai_chat", "log.jsonl", 3),
)


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, WHOLE, run("ua", 0.0, name="other"))
    return store


def test_a_skeleton_has_everything_but_text(filled: Store) -> None:
    found = skeleton(filled, PROJECT, "ext:booking 7")
    assert (found.external_id, found.project, found.task, found.role) == ("booking 7", PROJECT, "book", "solver")
    assert (found.trial, found.step, found.policy_version, found.model) == ("2", 140, "v3", "gpt-5-mini")
    assert (found.terminated, found.truncated) == (True, False)
    assert (found.format, found.file, found.line) == ("openai_chat", "log.jsonl", 3)
    assert (found.outcome, found.outcome_source, found.n_tokens) == (0.25, "verifier", None)
    assert found.report == (Note("odd", "an odd line", span=1),)
    given = [(r.value, r.source, r.span, r.name, r.at) for r in found.rewards]
    assert given == [(0.25, "verifier", 6, "check", None), (1.0, "human", None, None, None)]
    assert found.kind == ("system", "user", "reasoning", "tool_call", "tool_result", "tool_call", "assistant")
    assert found.turn == (-1, -1, 0, 0, 0, 1, 1)
    assert found.name == (None, None, None, "search", "search", "pay", None)
    assert found.agent == (None, None, None, "buyer", None, None, None)
    assert found.result_of == (None, None, None, None, 3, None, None)
    assert found.is_action == (False, False, True, True, False, True, True)
    assert found.is_write == (False, False, False, False, False, True, False)
    assert found.write_basis == ("", "", "", "declared", "", "declared", "")
    assert found.is_error == (False, False, False, True, True, False, False)
    assert found.size == tuple(len(body(span)) for span in WHOLE.spans)
    assert skeleton(filled, PROJECT, found.id) == found


def test_the_group_of_a_skeleton_is_that_of_its_siblings(store: Store) -> None:
    put(store, run("a", 1.0, name="x"), run("a", 0.0, name="y"), run("a", name="z"))
    found = skeleton(store, PROJECT, "ext:x")
    assert (found.group, found.group_size, found.group_scored, found.group_mean) == ("g", 3, 2, 0.5)


def test_where_no_span_names_an_agent_there_is_no_column(store: Store) -> None:
    talk = replace(WHOLE, spans=[replace(span, agent=None) for span in WHOLE.spans])
    put(store, talk, Trajectory(id="none", spans=[]))
    assert skeleton(store, PROJECT, "ext:booking 7").agent is None
    empty = skeleton(store, PROJECT, "ext:none")
    assert (empty.kind, empty.size, empty.agent, empty.outcome, empty.format) == ((), (), None, None, "")


def test_the_skeleton_says_of_every_span_what_its_graph_says(store: Store) -> None:
    reading = tc.read("trajcredit/data/wrong_flight.jsonl")
    put(store, *reading)
    for graph in build_graphs(list(reading)):
        found = skeleton(store, PROJECT, f"ext:{graph.trajectory.id}")
        assert found.write_basis == graph.write_basis
        assert found.is_write == tuple(graph.is_write.tolist())
        assert found.is_error == tuple(graph.is_error.tolist())
        assert found.kind == tuple(span.kind for span in graph.trajectory.spans)
        assert found.result_of == tuple(span.result_of for span in graph.trajectory.spans)
        assert any(found.write_basis)


def test_late_rewards_are_shown_with_the_time_they_came(filled: Store) -> None:
    late(filled, PROJECT, b'{"trajectory": "ext:other", "value": 0.5, "source": "judge", "at": "2026-04-14T18:40:12Z"}')
    given = skeleton(filled, PROJECT, "ext:other").rewards[-1]
    assert (given.value, given.source, given.at) == (0.5, "judge", "2026-04-14T18:40:12Z")
    assert given.received > "2026"


def test_texts_of_a_window_are_bodies_with_their_call_ids(filled: Store) -> None:
    assert texts(filled, PROJECT, "ext:booking 7", 3, 6) == (
        SpanText(3, '{"to":"LHR"}', "", 12, "c1"),
        SpanText(4, "no such code", "", 12, "c1"),
        SpanText(5, '{"id": 1', "", 8, "c2"),
    )
    assert [text.span for text in texts(filled, PROJECT, "ext:booking 7", 5, 100)] == [5, 6]
    assert texts(filled, PROJECT, "ext:booking 7", 7, 9) == ()


@pytest.mark.parametrize(
    ("text", "most", "head", "tail"),
    [
        ("abcdefgh", 8, "abcdefgh", ""),
        ("abcdefgh", 7, "abcd", "fgh"),
        ("abcdefgh", 4, "ab", "gh"),
        ("abcdefgh", 2, "a", "h"),
        ("abcdefgh", 1, "a", ""),
        ("äöü😀😀", 4, "äö", "😀😀"),
        ("", 1, "", ""),
    ],
)
def test_a_long_text_is_cut_in_the_middle(store: Store, text: str, most: int, head: str, tail: str) -> None:
    put(store, Trajectory(id="t", spans=[Span("user", -1, text)]))
    assert texts(store, PROJECT, "ext:t", 0, 1, most) == (SpanText(0, head, tail, len(text), None),)


@pytest.mark.parametrize(
    ("first", "last", "most", "message"),
    [
        (-1, 2, 10, "spans -1 to 2: trajectory 'ext:booking 7' has 7 spans"),
        (8, 9, 10, "spans 8 to 9: trajectory 'ext:booking 7' has 7 spans"),
        (3, 2, 10, "spans 3 to 2"),
        (0, 201, 10, "spans 0 to 201: at most 200 at once"),
        (0, 1, 0, "most 0: from 1 to 1,000,000 characters"),
    ],
)
def test_windows_that_are_none_are_refused(filled: Store, first: int, last: int, most: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        texts(filled, PROJECT, "ext:booking 7", first, last, most)


def test_the_rest_of_a_text_comes_by_range(filled: Store) -> None:
    ref = "ext:booking 7"
    assert text_of(filled, PROJECT, ref, 4) == "no such code"
    assert text_of(filled, PROJECT, ref, 4, 3) == "such code"
    assert text_of(filled, PROJECT, ref, 4, 3, 7) == "such"
    assert text_of(filled, PROJECT, ref, 4, 3, 700) == "such code"
    assert text_of(filled, PROJECT, ref, 4, 12) == ""
    for start, stop in ((-1, None), (13, None), (5, 4)):
        with pytest.raises(InputError, match="span 4 has 12 characters"):
            text_of(filled, PROJECT, ref, 4, start, stop)
    for span in (-1, 7):
        with pytest.raises(InputError, match=f"span {span}: trajectory 'ext:booking 7' has spans 0 to 6"):
            text_of(filled, PROJECT, ref, span)


def test_the_line_reads_as_what_was_stored(filled: Store) -> None:
    line = raw_line(filled, PROJECT, "ext:booking 7")
    assert b"\n" not in line
    assert decode(line) == WHOLE


def test_what_is_not_there_is_named(filled: Store) -> None:
    looks: tuple[Callable[[Store, str, str], object], ...] = (
        skeleton,
        raw_line,
        lambda store, project, ref: texts(store, project, ref, 0, 1),
        lambda store, project, ref: text_of(store, project, ref, 0),
    )
    for look in looks:
        with pytest.raises(NotFoundError, match="no trajectory 'ext:nobody' in project 'default'"):
            look(filled, PROJECT, "ext:nobody")
        with pytest.raises(NotFoundError, match="in project 'elsewhere'"):
            look(filled, "elsewhere", "ext:booking 7")
