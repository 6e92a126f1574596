"""Words and values as rules compare them: whole, in any case, however thousands and signs are written."""

from __future__ import annotations

import pytest

from tests.judges.logs import call, said
from trajcredit.judges.reading import code_in, quoted, specific, words
from trajcredit.model import Span


@pytest.mark.parametrize(
    ("text", "known"),
    [
        pytest.param("Seat 14C", {"seat", "14c"}, id="in lower case"),
        pytest.param("$1,450.50", {"1450.50", "1", "450", "50"}, id="thousands together, and apart"),
        pytest.param("[10,20]", {"10", "20"}, id="a list is no number"),
        pytest.param("seat:14", {"seat:14", "seat", "14"}, id="what a sign holds together, and apart"),
        pytest.param("mia@x.org.", {"mia@x.org", "mia", "x", "org"}, id="no full stop at the end"),
        pytest.param("", set(), id="nothing"),
    ],
)
def test_words_by_hand(text: str, known: set[str]) -> None:
    assert words(text) == known


def test_values_have_a_digit_and_two_characters() -> None:
    assert specific("On 3 May Ann paid $1,450 for HAT017 and 14C.") == {
        "1450": "1,450",
        "hat017": "HAT017",
        "14c": "14C",
    }


@pytest.mark.parametrize(
    ("span", "holds"),
    [
        (said("```\nprint(1)\n```"), True),
        (said("use `x` here"), False),
        (call("run", code="a = 1\nb = 2"), True),
        (call("run", code="a = 1\n"), False),
        (call("run", raw="a\nb"), False),
    ],
)
def test_code_to_run(span: Span, holds: bool) -> None:
    assert code_in(span) == holds


def test_quotes_are_one_short_line() -> None:
    assert quoted("a\n  b") == '"a b"'
    assert quoted("x" * 81) == f'"{"x" * 80}..."'
