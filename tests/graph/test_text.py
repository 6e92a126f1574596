"""Folding text to bytes and back, and the tokens found in them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.graph.text import collect, fold
from trajcredit.kernels import forms, scan, words


def tokens_of(text: str) -> list[tuple[str, str, float, int]]:
    """(logged text, normal form, bits, flags) of every token of one text."""
    buffer = collect([text])
    tokens = np.empty((len(buffer.data) // 2 + 2, scan.COLUMNS), dtype=np.int32)
    offsets = np.zeros(2, dtype=np.int64)
    n = scan.scan(buffer.data, buffer.offsets, tokens, offsets)
    slots, table = np.zeros(1 << (2 * n + 2).bit_length(), dtype=np.int32), np.zeros((n + 1, 3), dtype=np.int64)
    arena = np.empty(3 * len(buffer.data) + 16, dtype=np.uint8)
    assert forms.intern(buffer.data, tokens, n, slots, table, arena) >= 0
    places = buffer.moved.get(0, np.arange(len(buffer.data) + 1))
    out = []
    for row in tokens[:n].tolist():
        start, end = places[np.array([row[scan.START], row[scan.END]])]
        at, size = table[row[scan.FORM], forms.AT], table[row[scan.FORM], forms.SIZE]
        form = bytes(arena[at : at + size]).decode() if row[scan.FORM] >= 0 else ""
        out.append((text[start:end], form, row[scan.BITS] / 100, row[scan.FLAGS]))
    return out


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        pytest.param("plain", "plain", id="ASCII stays"),
        pytest.param("Café", "Café", id="accents stay, and so does ASCII case"),
        pytest.param("Cafe\u0301", "Café", id="a letter and its mark become one"),
        pytest.param("ÉLAN", "\x01éLAN", id="capitals outside ASCII are folded and marked"),
        pytest.param("“a”—‘b’", "'a'-'b'", id="typographic quotes and dashes"),
        pytest.param("a\u00a0b", "a b", id="a hard space"),
        pytest.param("caf\\u00e9", "café", id="an escape"),
        pytest.param("%C3%A9t%C3%A9", "été", id="percent codes"),
        pytest.param("%22x%22", " x ", id="a decoded quote is no structure"),
        pytest.param("100%", "100%", id="a percent sign alone"),
        pytest.param("ﬁne", "fine", id="a ligature"),
        pytest.param("ＱＸ７", "QX7", id="full width"),
    ],
)
def test_fold(text, folded):
    assert fold(text)[0].decode() == folded


@given(st.text(max_size=60))
def test_folding_keeps_the_way_back(text):
    data, places = fold(text)
    if places is None:
        assert data == text.encode()
        return
    characters = places[np.arange(len(data) + 1)]
    assert characters[-1] == len(text)
    assert (np.diff(characters) >= 0).all()
    assert characters[0] >= 0


@given(st.lists(st.text(max_size=40), max_size=6))
def test_texts_lie_end_to_end(texts):
    buffer = collect(texts)
    for i, text in enumerate(texts):
        piece = bytes(buffer.data[buffer.offsets[i] : buffer.offsets[i + 1]])
        assert piece == fold(text)[0]


BITS = [
    pytest.param("HAT229", 24.0, id="letters and digits: 4 a character"),
    pytest.param("631", 9.96, id="a number: 3.32 a digit"),
    pytest.param("200", 6.64, id="zeros at the end count half"),
    pytest.param("250.00", 8.3, id="zeros after the point count nothing"),
    pytest.param("007", 3.32, id="leading zeros count nothing"),
    pytest.param("12", 0.0, id="two digits are nothing"),
    pytest.param("PHX", 12.0, id="capitals: 4 a letter"),
    pytest.param("OpenHands", 10.8, id="inner capitals: 1.2 a letter"),
    pytest.param("python3", 6.82, id="a short word that ends in a digit: 3.5 more than the digit"),
    pytest.param("Denver", 7.5, id="a capitalised word"),
    pytest.param("flight", 0.0, id="a plain word"),
    pytest.param("one-way", 0.0, id="a plain word with a hyphen"),
    pytest.param("gift_card_7480005", 30.0, id="snake case: 2.2 a character, at most 30"),
    pytest.param("ab_c", 5.6, id="snake case of words: 1.4 a character"),
    pytest.param("src/ab_c", 17.6, id="a path: 2.2 a character"),
    pytest.param("10am", 4.98, id="a count with a unit is worth its digits"),
    pytest.param("3-day", 3.32, id="so is one with a hyphen"),
    pytest.param("2031-03-09", 12.0, id="a date"),
    pytest.param("tp-810f7", 28.0, id="an id with a hyphen"),
    pytest.param("x" * 30 + "1", 40.0, id="at most 40"),
]


@pytest.mark.parametrize(("text", "bits"), BITS)
def test_bits_of_a_token(text, bits):
    assert tokens_of(text)[0][2] == pytest.approx(bits)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("48,213.50", "48213.5"),
        ("12.00", "12"),
        ("1,234", "1234"),
        ("2031/03/09", "2031-03-09"),
        ("March 9, 2031", "2031-03-09"),
        ("9th of March 2031", "2031-03-09"),
        ("9 Mar 2031", "2031-03-09"),
        ("2024-05-01T09:08:54", "2024-05-01"),
        ("Sofia's", "sofia"),
        ("O'Brien", "o'brien"),
    ],
)
def test_normal_form(text, form):
    assert form in [token[1] for token in tokens_of(text)]


def test_the_pieces_of_a_path_are_its_tail_with_and_without_its_suffix_and_its_name():
    found = [t[0] for t in tokens_of("src/app/core/main.py")]
    assert found == ["src/app/core/main.py", "core/main.py", "core/main", "main.py"]


def test_json_tells_keys_from_values():
    found = {
        text: flags
        for text, _, _, flags in tokens_of('{"user_id": "ann", "n": 7, "q": "two words", "e": "a \\"b2\\""}')
    }
    assert found["user_id"] & words.KEY
    assert found["ann"] & words.WHOLE
    assert found["ann"] & words.IDKEY
    assert found["7"] & words.WHOLE
    assert not found["two"] & words.WHOLE
    assert found["b2"] & words.SHOWN


def test_a_text_that_only_looks_like_json_is_text():
    found = {text: flags for text, _, _, flags in tokens_of('[Summary] The "ledger" was opened.')}
    assert not found["Summary"] & words.WHOLE
    assert found["ledger"] & words.SHOWN


def test_the_command_line_ends_with_the_line_and_starts_after_cd():
    found = {text: flags for text, _, _, flags in tokens_of('{"cmd": "cd /srv/x && cat a.txt\\nb.txt"}')}
    assert found["a.txt"] & words.COMMAND
    assert not found["b.txt"] & words.COMMAND
    assert not found["srv/x"] & words.COMMAND


WORD = re.compile(r"[A-Za-z0-9_]+(?:(?:/[-.]?|[-.:@+'#])[A-Za-z0-9_]+)*")


@given(st.text(st.sampled_from("aB1_ -./:@+'#,;(\n"), max_size=40))
def test_tokens_are_what_a_pattern_finds(text):
    """Against a regular expression: every token it finds is scanned unless it is worthless, and nothing else is."""
    expected = {m.span() for m in WORD.finditer(re.sub(r"(?<=\d),(?=\d)", ";", text))}
    text = re.sub(r"(?<=\d),(?=\d)", ";", text)
    got = {(text.index(t[0]), t[0]) for t in tokens_of(text) if not t[3] & words.PART}
    found = {text[a:b] for a, b in expected}
    stripped = found | {t[:-2] for t in found if t.endswith("'s")} | {t[:10] for t in found}
    assert {t for _, t in got} <= stripped
    for token in found - {t for _, t in got}:
        assert len(re.findall(r"\d", token)) < 3
        assert len(re.findall("[A-Za-z]", token)) <= 1
