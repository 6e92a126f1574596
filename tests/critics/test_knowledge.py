"""Where a word comes from, what a result says and how a record stands: every class by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.critics.worlds import NO_WORDS
from trajcredit.critics.facts import facts_of, like, offers, standing
from trajcredit.critics.knowledge import Knowledge

WORDS = msgspec.structs.replace(
    NO_WORDS,
    prompts=frozenset({"book", "seats", "oslo", "rome"}),
    values=frozenset({"oslo", "rome"}),
    trade=frozenset({"aisle", "seats"}),
    shown=frozenset({"held", "gone"}),
)


def learn(known: Knowledge, text: str, tool: str = "look", failed: bool = False) -> None:
    known.learn(text, msgspec.json.decode(text) if text[:1] in "[{" else None, tool, failed)


def knowing() -> Knowledge:
    known = Knowledge(WORDS)
    known.ask("Book 3 seats to Oslo for Annabel, an aisle one below 500")
    learn(known, '{"code": "zx81", "fare": 120}')
    learn(known, '{"fare": 40, "tax": 0.5}')
    known.hear("gate b7")
    known.use(["mine", "131", "late"])
    learn(known, "too late", "wait")
    return known


@pytest.mark.parametrize(
    ("word", "origin"),
    [
        pytest.param("annabel", "P", id="P: in the request"),
        pytest.param("3", "Pn", id="Pn: a number of the request"),
        pytest.param("zx81", "R:look", id="R: first seen in a result"),
        pytest.param("120", "R:look", id="R: a number of a result"),
        pytest.param("b7", "R:user", id="R:user: in a later user turn"),
        pytest.param("119", "R1", id="R1: one below a seen number"),
        pytest.param("4", "R1", id="R1: one above a number of the request"),
        pytest.param("annika", "Pp", id="Pp: starts like a word of the request"),
        pytest.param("mine", "A", id="A: only in own arguments"),
        pytest.param("131", "A", id="A: numbers too"),
        pytest.param("late", "R:wait", id="R wins over A: seen since"),
        pytest.param("160", "Sum", id="Sum: the running total of a field"),
        pytest.param("117", "Dif", id="Dif: a seen number less one of the request"),
        pytest.param("380", "Dif", id="Dif: or the other way round"),
        pytest.param("rome", "O", id="O: the value of another task"),
        pytest.param("qq", "U", id="U: seen nowhere"),
        pytest.param("77", "U", id="U: numbers too"),
    ],
)
def test_the_class_of_a_word(word: str, origin: str) -> None:
    assert knowing().origin(word) == origin


def test_the_first_class_that_fits_wins() -> None:
    known = knowing()
    known.use(["121", "annalena"])
    assert known.origin("121") == "R1", "one away from a seen number, before own arguments"
    assert known.origin("annalena") == "A", "own arguments, before the start of a word"
    learn(known, '{"fare": 3}')
    assert known.origin("163") == "Sum", "the total moves on"
    assert known.origin("160") == "U", "and is no longer what it was; it was shown nowhere"


def test_a_failure_adds_nothing_up_and_its_words_are_seen() -> None:
    known = Knowledge(WORDS)
    learn(known, '{"fare": 40, "why": "full"}', failed=True)
    learn(known, '{"fare": 7}')
    assert [known.origin(w) for w in ("full", "47", "7")] == ["R:look", "U", "R:look"]
    assert known.announced == {"look.fare": 7}


def test_words_of_the_request_that_tell_its_task() -> None:
    assert knowing().asked == {"3", "to", "oslo", "for", "annabel", "an", "one", "below", "500"}, (
        "no trade word, nor one of most prompts"
    )
    assert knowing().asked_numbers == {3, 500}


def test_counts_are_whole_positive_and_not_in_lists() -> None:
    known = Knowledge(WORDS)
    learn(known, '{"n": 4, "m": 2.0, "half": 0.5, "none": 0, "minus": -1, "large": 10000, "on": true, "rows": [3]}')
    assert known.announced == {"look.n": 4, "look.m": 2}


def test_numbers_beyond_what_floats_hold_are_no_amounts() -> None:
    known = Knowledge(WORDS)
    for n in ("9" * 400, "9007199254740992", "-9007199254740992", "1e300", "5"):
        learn(known, f'{{"n": {n}}}')
    assert known._sums == {("look", "n"): 5.0}
    assert known.origin("6") == "R1"


def test_of_a_request_full_of_numbers_the_first_are_held_against_others() -> None:
    known = Knowledge(WORDS)
    known.ask(" ".join(str(2 * n) for n in range(5000)))
    assert known.asked_numbers == {2 * n for n in range(64)}
    assert known.origin("9998") == "Pn"


ROWS: list[dict[str, Any]] = [
    {"id": "aa1", "price": 100, "direct": True, "name": "Oslo north"},
    {"id": "bb2", "price": 240, "direct": False, "name": "Rome"},
    {"id": "cc3", "price": 300, "direct": False, "name": "Oslo south", "code": 4711},
]


def offered(request: str = "to Oslo for 250") -> Knowledge:
    known = Knowledge(WORDS)
    known.ask(request)
    known.learn("", {"flights": ROWS, "odd": [7], "one": [{"id": "lone"}]}, "look", failed=False)
    return known


def test_a_record_is_known_by_its_texts_and_long_numbers() -> None:
    assert sorted(offered().records) == ["4711", "aa1", "bb2", "cc3", "oslo north", "oslo south", "rome"]


@pytest.mark.parametrize(
    ("word", "stands"),
    [
        pytest.param(
            "aa1",
            {
                "place first",
                "id not asked",
                "price low",
                "price within",
                "price least that fits",
                "direct=True",
                "name asked",
            },
            id="the cheapest",
        ),
        pytest.param(
            "bb2",
            {"place between", "id not asked", "price mid", "price within", "price most that fits", "direct=False"}
            | {"name not asked"},
            id="the dearest within what may be spent",
        ),
        pytest.param(
            "4711",
            {"place last", "id not asked", "price high", "price beyond", "price some that fits", "direct=False"}
            | {
                "name asked",
                "code same",
            },
            id="beyond it",
        ),
    ],
)
def test_how_a_record_stands_in_its_list(word: str, stands: set[str]) -> None:
    assert set(standing(word, offered())) == stands


def test_what_lists_offer() -> None:
    value = {"flights": ROWS}
    assert set(offers(value, offered())) == {".flights[].price within 2", ".flights[].name names 2"}
    assert set(offers(value, offered("for 300 to Rome"))) == {
        ".flights[].price within 2 all",
        ".flights[].name names 1",
    }
    assert list(offers(value, offered("anything"))) == []
    assert list(offers([[]] * 3, offered())) == []


@pytest.mark.parametrize(
    ("number", "asked", "alike"),
    [(100, 600, True), (100, 601, False), (600, 100, True), (601, 100, False), (0, 5, False), (5, 0, False),
     (-5, 5, False), (10**400, 5, False), (5e-324, 5, False)],
)  # fmt: skip
def test_numbers_are_alike_within_a_factor_of_six(number: float, asked: int, alike: bool) -> None:
    assert like(number, asked) is alike


def test_facts_of_a_json_result() -> None:
    value = {
        "ok": True, "none": None, "left": -3, "zero": 0, "fare": 5.5, "to": "Oslo", "state": "held", "who": "Zed",
        "text": "one of many words, held and gone", "rows": [{"a": 1, "b": 2}, {"a": 3}], "deep": {"on": False},
    }  # fmt: skip
    assert facts_of("", value, knowing()) == sorted(
        ["ok=True", "none=None", "left:-", "zero:0", "fare:+", "to~P", "state~held", "who~U", "text~held", "text~gone",
         "rows#3", "deep.on=False"]
    )  # fmt: skip


def test_facts_of_a_text_are_words_that_results_share() -> None:
    assert facts_of("Held, not gone; zx99", None, knowing()) == ["~gone", "~held"]


def test_no_more_than_sixty_facts() -> None:
    assert len(facts_of("", {f"k{n}": True for n in range(100)}, knowing())) == 60
