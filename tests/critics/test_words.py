"""Tokens, leaves and the words of a pool."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from tests.critics.worlds import ask, call, got, say, story
from trajcredit.critics.acts import _magnitude
from trajcredit.critics.story import Story
from trajcredit.critics.text import is_number, leaves, parsed, size, tokens
from trajcredit.critics.words import Vocabulary, vocabulary


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", (), id="nothing"),
        pytest.param("Fly_to OSLO-2, 14:05!", ("fly_to", "oslo", "2", "14", "05"), id="letters, digits, underscores"),
        pytest.param("Ünï 東京", ("ünï", "東京"), id="letters of other scripts"),
        pytest.param("\ud800x", ("x",), id="half a surrogate pair is no letter"),
        pytest.param("a " * 300, ("a",) * 300, id="long texts, which are not kept"),
    ],
)
def test_tokens(text: str, found: tuple[str, ...]) -> None:
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("token", "number"),
    [("7", True), ("0" * 11, True), ("1" * 12, False), ("7a", False), ("٣", False), ("", False)],
    ids=["a digit", "eleven digits", "twelve are an id", "a letter", "digits that int reads otherwise", "nothing"],
)
def test_a_quantity_is_a_few_plain_digits(token: str, number: bool) -> None:
    assert is_number(token) is number


def test_leaves_of_lists_share_a_path() -> None:
    value = {"a": [{"b": 1}, {"b": 2, "c": []}], "d": {"": None}, "e": {}}
    assert list(leaves(value)) == [("a[].b", 1), ("a[].b", 2), ("d.", None)]
    assert list(leaves("plain")) == [("", "plain")]


def test_what_lies_deeper_than_64_levels_is_one_leaf() -> None:
    value: Any = 5
    for _ in range(70):
        value = [value]
    [(path, leaf)] = leaves(value)
    assert path == "[]" * 64
    assert leaf == [[[[[[5]]]]]]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(' {"a": 1}', {"a": 1}, id="an object"),
        pytest.param("[1]", [1], id="a list"),
        pytest.param("7", None, id="a bare number is text"),
        pytest.param('{"a": NaN}', None, id="NaN is not JSON"),
        pytest.param('{"a": 1e999}', None, id="a number that no float holds"),
        pytest.param("[" * 100_000, None, id="100,000 levels"),
        pytest.param('["\ud800"]', None, id="half a surrogate pair"),
    ],
)
def test_json_is_read_and_anything_else_is_text(text: str, value: Any) -> None:
    assert parsed(text) == value


def test_sizes() -> None:
    assert [size(n) for n in (0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 10**6)] == [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_magnitudes() -> None:
    numbers = [0, 0.5, -0.5, 1, 9.9, -10, 123456, 10**7, 1e300, 10**400, inf, -inf, nan]
    assert [_magnitude(number) for number in numbers] == [0, -1, -1, 1, 1, 2, 6, 7, 7, 7, 8, 8, 8]


def seats(city: str, kind: str, count: int, note: str) -> Story:
    return story(
        ask(f"a seat to {city} for {count}"),
        call("pick", {"kind": kind, "count": count}),
        got(f"held {note}"),
        say(f"done {note}"),
    )


def test_the_words_of_a_pool_by_hand() -> None:
    cities = ["oslo", "oslo", "rome", "rome", "lima", "quito"]
    kinds = ["aisle", "aisle", "aisle", "oslo", "rome", "window"]
    stories = [seats(c, k, 4 if g < 3 else 5 + g, f"n{g}") for g, (c, k) in enumerate(zip(cities, kinds, strict=True))]
    words = vocabulary(stories, range(6))
    assert words == Vocabulary(
        prompts=frozenset({"a", "seat", "to", "for", "oslo", "rome", "4"}),  # of two requests or more
        values=frozenset({"oslo", "rome", "4"}),  # of two or more, and of fewer than 60 %
        trade=frozenset({"aisle"}),  # three groups, no value; 4 is one and a number besides
        said=frozenset({"done"}),
        shown=frozenset({"held"}),
        commands=frozenset(),
        usual=frozenset(),
    )


def test_a_word_of_nearly_every_call_is_usual_and_a_number_is_trade_in_half_the_groups() -> None:
    stories = [seats("oslo", "aisle" if g else "window", 2 if g < 3 else g + 10, "") for g in range(5)]
    words = vocabulary(stories, range(5))
    assert words.trade == {"aisle", "2"}, "oslo and 2 are of all, and of 60 %, of the requests: no values"
    assert words.usual == {("pick", "kind", "aisle")}, "4 of 5 calls; 2 is in 3"


def test_groups_count_not_rollouts() -> None:
    stories = [seats("oslo", "aisle", 2, "x") for _ in range(9)]
    assert vocabulary(stories, [0, 1, 1, 1, 1, 1, 1, 1, 1]).trade == frozenset()
    assert vocabulary([], []).trade == frozenset()


def lines(*commands: Any) -> list[Story]:
    return [story(ask("do"), call("shell", {"line": line})) for line in commands]


def test_a_tool_of_command_lines_is_named_by_its_first_two_words() -> None:
    stories = lines(*(f"{verb} {n} {k}" for verb in ("get", "set") for n in "ab" for k in range(6)))
    words = vocabulary(stories, range(len(stories)))
    assert words.commands == {"shell"}
    assert words.name(stories[0].choices[0]) == "shell get a"
    [other] = lines("get")[0].choices
    assert words.name(other) == "shell get"
    [number] = lines(7)[0].choices
    assert words.name(number) == "shell"


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param([f"get a {k}" for k in range(12)], id="one verb"),
        pytest.param(["get a", "set b"] * 6, id="always the same few lines"),
        pytest.param([f"verb{k} a {n}" for k in range(21) for n in range(3)], id="more verbs than a tool has"),
        pytest.param([f"free{k} text {k}" for k in range(12)], id="free text"),
    ],
)
def test_other_tools_are_not(commands: list[str]) -> None:
    stories = lines(*commands)
    assert vocabulary(stories, range(len(stories))).commands == frozenset()
