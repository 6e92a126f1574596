"""A run as a story, and a story as features: by hand."""

from __future__ import annotations

import msgspec
import numpy as np

from tests.critics.worlds import NO_WORDS, ask, call, got, say, story, think
from trajcredit.critics.describe import Description, _Writer, describe
from trajcredit.critics.story import MESSAGE, Event, Story
from trajcredit.critics.words import Vocabulary

SEATS = {"n": 2, "seats": [{"seat": "w14", "price": 90}, {"seat": "a22", "price": 120}]}


def told_of(one: Story, words: Vocabulary = NO_WORDS) -> list[dict[str, float]]:
    """The features of every choice of a story."""
    writer = _Writer(words)
    writer.write(one)
    names = list(writer.choice.names)
    found: list[dict[str, float]] = [{} for _ in one.choices]
    for row, column, value in zip(writer.choice.rows, writer.choice.columns, writer.choice.values, strict=True):
        found[row][names[column]] = max(value, found[row].get(names[column], value))
    return found


def known_at(one: Story, decision: int, words: Vocabulary = NO_WORDS) -> set[str]:
    """The features of the state before a choice."""
    writer = _Writer(words)
    writer.write(one)
    state = writer.state
    names = list(state.names)
    spans = zip(state.starts, state.ends, state.columns, strict=True)
    return {names[column] for start, end, column in spans if start <= decision < end}


def test_a_run_as_a_story() -> None:
    one = story(
        ask("to oslo"),
        think("hm"),
        say("looking"),
        call("look", {"to": "oslo"}),
        call("note", raw="{broken"),
        got("late", answers=1),
        got(SEATS),
        got("nobody asked", answers=None),
        ask("the cheap one"),
        call("pick", {"seats": ["w14"], "kind": {"x": None}}),
        got("sold out", error=True),
        think("give up"),
        say("sorry"),
        say("bye"),
    )
    assert one.requests == ["to oslo"]
    assert [(c.tool, c.is_message, c.position, c.arguments, c.text) for c in one.choices] == [
        ("look", False, 0, (("to", "oslo"),), ""),
        ("note", False, 1, (("", "{broken"),), ""),
        ("pick", False, 0, (("seats[]", "w14"), ("kind.x", None)), ""),
        (MESSAGE, True, 0, (), "sorry bye"),
    ]
    assert one.choices[2].sources == ("look",)
    assert one.choices[2].arguments_key == (("seats[]", "w14"), ("kind.x", "None"))
    assert [(e.choices, e.choice, e.failed, e.request) for e in one.events] == [
        ((), -1, False, True),
        ((0, 1), -1, False, False),
        ((), 1, False, False),
        ((), 0, False, False),
        ((), -1, False, False),
        ((), -1, False, False),
        ((2,), -1, False, False),
        ((), 2, True, False),
        ((3,), -1, False, False),
    ]
    assert one.events[5] == Event(text="the cheap one")


def test_a_result_that_comes_before_any_call_is_no_request() -> None:
    one = story(got("stray w14", answers=None), ask("to oslo"), call("pick", {"seat": "w14"}))
    assert one.requests == ["to oslo"]
    [pick] = told_of(one)
    assert "origin|pick|seat|R:user" in pick
    writer = _Writer(NO_WORDS)
    writer.write(one)
    assert writer.situation == [("^", "1", "user")], "the stray text was heard, the request was known from the start"


def test_what_there_is_to_say_of_a_call() -> None:
    one = story(
        ask("to oslo for 100"),
        call("look", {"to": "oslo"}),
        got(SEATS),
        call("pick", {"seat": "w14", "fare": 90, "sure": True, "why": "best"}),
        got("ok"),
        call("pick", {"seat": "w14", "fare": 90, "sure": True, "why": "best"}),
    )
    look, pick, again = told_of(one)
    assert look == {
        "tool|look": 1, "after|look|^": 1, "origin|look|to|P": 1, "origin-count|look|P": 0.25, "origin|look|*|P": 1,
        "template|look|to=P": 1, "uses-count|look": 0, "unlooked|look": 1,
    }  # fmt: skip
    assert pick == {
        "tool|pick": 1, "after|pick|look": 1,
        "origin|pick|seat|R:look": 1, "origin|pick|seat|R": 1, "origin|pick|fare|R:look": 1, "origin|pick|fare|R": 1,
        "magnitude|pick|fare|2": 1, "origin|pick|why|U": 1, "unseen|pick": 1, "origin|pick|*|R:look": 1,
        "origin|pick|*|R": 1, "origin|pick|*|U": 1, "origin-count|pick|R:look": 0.25, "origin-count|pick|R": 0.25,
        "origin-count|pick|U": 0.25, "template|pick|seat=R:look&fare=R:look&sure=true&why=U": 1,
        "record|pick|seat|place first": 1, "record|pick|seat|seat not asked": 1, "record|pick|seat|price low": 1,
        "record|pick|seat|price within": 1, "record|pick|seat|price least that fits": 1,
        "uses|pick|look": 1, "uses-count|pick": 0.25, "unlooked|pick": 1,
    }  # fmt: skip
    assert again.keys() - pick.keys() == {
        "after|pick|pick", "repeat|pick", "about|pick|pick", "origin|pick|why|A", "origin|pick|*|A",
        "origin-count|pick|A", "template|pick|seat=R:look&fare=R:look&sure=true&why=A",
    }  # fmt: skip
    assert {"latest|look|n:+", "latest|look|seats#3", "latest|look|.seats[].price within 1"} <= known_at(one, 1)


def test_words_of_the_trade_are_kept_as_they_are() -> None:
    words = msgspec.structs.replace(
        NO_WORDS, trade=frozenset({"aisle", "window", "middle"}), usual=frozenset({("pick", "kind", "middle")})
    )
    one = story(
        ask("an aisle"), call("look", {}), got("window"), call("pick", {"kind": "aisle window middle", "n": 1.0})
    )
    pick = told_of(one, words)[1]
    assert {name for name in pick if name.startswith(("word", "origin", "template"))} == {
        "word|pick|kind|aisle", "word|pick|kind|window", "word|pick|kind|middle",
        "word-from|pick|kind|aisle|Q", "word-from|pick|kind|window|K", "word-from|pick|kind|middle|C",
        "origin|pick|kind|Q", "origin|pick|kind|K", "origin-count|pick|Q", "origin-count|pick|K",
        "origin|pick|*|Q", "origin|pick|*|K", "origin|pick|n|U", "origin|pick|*|U", "origin-count|pick|U",
        "template|pick|kind=aisle window middle&n=U U",
    }  # fmt: skip


def test_what_there_is_to_say_of_a_message() -> None:
    words = msgspec.structs.replace(NO_WORDS, said=frozenset({"done"}))
    one = story(
        ask("to oslo"), say("which seat ?"), ask("w14"), call("look", {"to": "oslo"}), got(SEATS), say("done w14 oslo")
    )
    question, _, answer = told_of(one, words)
    assert question == {
        "message|mid": 1, "message-after|mid|^": 1, "length|mid|2": 1, "sources|mid": question["sources|mid"],
        "used|mid": 0, "message-origin|mid|U": 1, "message-count|mid|U": 2 / 6, "question|mid": 1,
    }  # fmt: skip
    assert answer == {
        "message|end": 1, "message-after|end|look": 1, "length|end|3": 1, "sources|end": answer["sources|end"],
        "used|end": 0.5, "said|end|done": 1, "message-origin|end|R:user": 1, "message-count|end|R:user": 1 / 6,
        "message-origin|end|P": 1, "message-count|end|P": 1 / 6,
    }  # fmt: skip


def test_a_choice_sees_what_came_before_and_calls_of_one_turn_do_not_see_each_other() -> None:
    one = story(
        ask("to oslo"),
        call("look", {"to": "oslo"}),
        call("pick", {"seat": "w14"}),
        got({"n": 1, "seat": "w14"}),
        got("no", error=True),
        call("pick", {"seat": "w14"}),
        got("ok"),
        say("done"),
    )
    assert known_at(one, 0) == known_at(one, 1) == {"last|^", "before|^"}
    assert "origin|pick|seat|U" in told_of(one)[1]
    assert "origin|pick|seat|R:look" in told_of(one)[2]
    before = known_at(one, 2)
    assert {"last|pick!", "before|look", "count|look.n<"} <= before
    assert {
        "latest|look|n:+", "latest|look|seat~A", "ever|look|n:+", "ever||n:+", "latest|pick|!", "failures|pick|1",
        "calls|look|1", "calls|pick|1", "chose|tool|look", "chose|origin|pick|seat|U",
    } <= before  # fmt: skip
    last = known_at(one, 3)
    assert {"last|pick", "before|pick!", "count|look.n=", "calls|pick|2", "ever|look|n:+"} <= last
    assert "latest|pick|!" not in last, "the latest result of pick was no failure"
    assert "failures|pick|1" in last


def test_situations_are_equal_where_last_call_facts_and_counts_are() -> None:
    def run(fare: int, seat: str) -> Story:
        return story(ask("to oslo"), call("look", {}), got({"fare": fare, "seat": seat}), call("pick", {"seat": seat}))

    stories = [run(5000, "w14"), run(7000, "a22"), run(-1, "w14")]
    told = describe(stories, np.arange(3), NO_WORDS, 100)
    assert told.owner.tolist() == [0, 0, 1, 1, 2, 2]
    assert told.situation.tolist() == [0, 1, 0, 1, 0, 2]
    assert told.last_call.tolist() == [0, 1, 0, 1, 0, 1]
    assert "tool|pick" in told.names
    assert "origin|pick|seat|R:look" in told.names
    assert told.choice[:, told.names.index("tool|pick")].tolist() == [0, 1, 0, 1, 0, 1]
    np.testing.assert_allclose(told.state[:, -1], np.log1p([0, 1, 0, 1, 0, 1]), rtol=1e-6)


def test_no_stories_are_no_decisions() -> None:
    told: Description = describe([], np.zeros(0, dtype=np.int64), NO_WORDS, 10)
    assert told.choice.shape == (0, 0)
    assert told.state.shape == (0, 2)
