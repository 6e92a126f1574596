"""Characters -> spans -> tokens, by hand and against a slow twin; spans found in a text; rows padded."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.errors import InputError
from trajcredit.tokens import TokenRow, padded
from trajcredit.tokens.finding import NotFoundInTextError, Wanted, found_in_order
from trajcredit.tokens.territories import Piece, owner_of_tokens, owners, territories


@pytest.mark.parametrize(
    ("text", "pieces", "divided"),
    [
        pytest.param("<a>hm</a>\nok.", [(0, 3, 5), (1, 10, 12)], [(0, 0, 9), (1, 9, 13)], id="after the closing tag"),
        pytest.param("hm\n\nok", [(0, 0, 2), (1, 4, 6)], [(0, 0, 2), (1, 2, 6)], id="no tag: all to the later"),
        pytest.param("x</a></b><c>y", [(0, 0, 1), (1, 12, 13)], [(0, 0, 9), (1, 9, 13)], id="the last of several tags"),
        pytest.param("x[/T] y", [(0, 0, 1), (1, 6, 7)], [(0, 0, 5), (1, 5, 7)], id="in square brackets"),
        pytest.param("x<|end|><|start|>y", [(0, 0, 1), (1, 17, 18)], [(0, 0, 8), (1, 8, 18)], id="an end token"),
        pytest.param("ab", [(0, 0, 1), (0, 1, 2)], [(0, 0, 2)], id="neighbours of one span are one"),
        pytest.param("</s>", [], [(7, 0, 4)], id="nobody says anything: the whole owner"),
        pytest.param("", [], [], id="nothing at all"),
    ],
)
def test_every_character_has_an_owner(text, pieces, divided):
    found = territories(text, [Piece(*piece) for piece in pieces], 7)
    assert [(p.span, p.start, p.end) for p in found] == divided


lengths = st.lists(st.integers(0, 5), min_size=1, max_size=6)


@given(spans=lengths, tokens=st.lists(st.integers(0, 4), max_size=12))
def test_tokens_go_where_the_slow_loop_puts_them(spans, tokens):
    """The twin walks the characters one by one; a token without characters of its own begins where the next does."""
    bounds = np.concatenate([[0], np.cumsum(spans)]).tolist()
    pieces = [Piece(i, start, end) for i, (start, end) in enumerate(pairwise(bounds))]
    starts = np.minimum(np.concatenate([[0], np.cumsum(tokens)[:-1]]), max(bounds[-1] - 1, 0)).astype(np.int64)
    starts = starts[: len(tokens)]
    owner_of_character = [piece.span for piece in pieces for _ in range(piece.start, piece.end)]
    wanted = [owner_of_character[start] for start in starts.tolist()] if owner_of_character else []
    found = owners(starts, pieces)
    assert [piece.span for piece in found for _ in range(piece.start, piece.end)] == wanted
    offsets = np.stack([starts, starts + 1], axis=1).reshape(-1, 2)
    if wanted:
        assert owner_of_tokens(offsets, pieces).tolist() == wanted


def test_a_token_outside_of_all_ranges_is_nobodys():
    offsets = np.array([[0, 1], [1, 3], [3, 4], [4, 6]])
    assert owner_of_tokens(offsets, [Piece(5, 1, 3), Piece(6, 5, 6)]).tolist() == [-1, 0, -1, -1]


CALL = ('{"id": 1}', '{"id":1}')


@pytest.mark.parametrize(
    ("text", "wanted", "said"),
    [
        pytest.param("hm ok", [Wanted(0, "hm"), Wanted(1, "ok")], ["hm", "ok"], id="in order"),
        pytest.param(
            "<t>\nhm\n</t> ok", [Wanted(0, "\nhm\n"), Wanted(1, "ok")], ["\nhm\n", "ok"], id="with white space"
        ),
        pytest.param(
            "<t>hm</t> ok", [Wanted(0, " hm\n"), Wanted(1, " ok")], ["hm", " ok"], id="white space that is gone"
        ),
        pytest.param("<ok>hm</ok> ok", [Wanted(0, "hm"), Wanted(1, "ok")], ["hm", "ok"], id="never within a tag"),
        pytest.param(
            '{"name": "f", "arguments": {"id": 1}}', [Wanted(0, "f", CALL)], ['f", "arguments": {"id": 1}'], id="JSON"
        ),
        pytest.param(
            "[f(id=1), g(id=1)]", [Wanted(0, "f", CALL), Wanted(1, "g", CALL)], ["f(id=1)", "g"], id="as Python"
        ),
        pytest.param(
            "<function=f>1</function><function=f>",
            [Wanted(0, "f", CALL), Wanted(1, "f", CALL)],
            ["f", "f"],
            id="as tags",
        ),
        pytest.param("a ok", [Wanted(0, " "), Wanted(1, "ok")], ["ok"], id="a span that says nothing"),
    ],
)
def test_spans_are_found_word_for_word(text, wanted, said):
    assert [text[piece.start : piece.end] for piece in found_in_order(text, wanted)] == said


@pytest.mark.parametrize(
    ("text", "wanted", "span"),
    [
        pytest.param("ok hm", [Wanted(0, "hm"), Wanted(1, "ok")], 1, id="in another order"),
        pytest.param("hm", [Wanted(0, "no")], 0, id="not there"),
        pytest.param("f then ok", [Wanted(3, "f", CALL), Wanted(4, "ok")], 3, id="arguments that are nowhere"),
    ],
)
def test_what_is_not_found_is_named(text, wanted, span):
    with pytest.raises(NotFoundInTextError) as error:
        found_in_order(text, wanted)
    assert error.value.span == span


def row(prompt: list[int], response: list[int], logprobs: bool = True) -> TokenRow:
    n = len(response)
    numbers = np.arange(1.0, n + 1)
    return TokenRow(
        "g", "t", 0, np.array(prompt), np.array(response), np.ones(n, np.uint8), numbers,
        -numbers if logprobs else None, (), "engine",
    )  # fmt: skip


def test_rows_are_padded_around_the_border_of_prompt_and_response():
    arrays = padded([row([1, 0], [2, 0, 3]), row([4], [5])], pad_id=0, response_length=4)
    assert arrays["prompts"].tolist() == [[1, 0], [0, 4]]
    assert arrays["responses"].tolist() == [[2, 0, 3, 0], [5, 0, 0, 0]]
    assert arrays["attention_mask"].tolist() == [[1, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0]]
    assert arrays["response_mask"].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]
    assert arrays["advantages"].tolist() == [[1, 2, 3, 0], [1, 0, 0, 0]]
    assert arrays["logprobs"].tolist() == [[-1, -2, -3, 0], [-1, 0, 0, 0]]
    assert (arrays["prompt_lengths"].tolist(), arrays["response_lengths"].tolist()) == ([2, 1], [3, 1])
    assert [arrays[name].dtype.name for name in ("prompts", "advantages")] == ["int64", "float32"]


def test_responses_can_end_together():
    arrays = padded([row([1], [2, 3]), row([4], [5], logprobs=False)], pad_id=9, prompt_length=2, responses="right")
    assert arrays["prompts"].tolist() == [[9, 1], [9, 4]]
    assert arrays["responses"].tolist() == [[2, 3], [9, 5]]
    assert arrays["attention_mask"].tolist() == [[0, 1, 1, 1], [0, 1, 0, 1]]
    assert arrays["response_mask"].tolist() == [[1, 1], [0, 1]]
    assert "logprobs" not in arrays


def test_a_row_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="row 1 has a response of 2 tokens"):
        padded([row([1], [2]), row([1], [2, 3])], pad_id=0, response_length=1)
    with pytest.raises(InputError, match="no rows"):
        padded([], pad_id=0)
