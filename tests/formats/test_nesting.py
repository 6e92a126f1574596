"""No record that nests too deep is overlooked, wherever it nests, and whatever stands in texts and lines around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.errors import ParseError
from trajcredit.formats import nesting, read_bytes
from trajcredit.formats.nesting import may_nest_too_deep, nests_too_deep
from trajcredit.formats.repair import MAX_DEPTH
from trajcredit.model import Trajectory

KEYS = ("a", "]", "}}", "[[", '"', "\\", '\\"]')
BESIDE: tuple[Any, ...] = (1, "]]", '"', '\\"]', "\\", "[", "é]", {}, [], [[]], {"}": "]"})


def nest(levels: int, inner: Any = 0) -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


def depth(value: Any) -> int:
    """The same by the book."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@st.composite
def nested(draw: st.DrawFn) -> tuple[int, bytes]:
    """A record and its depth; texts, keys and neighbours in it hold brackets, quotes and backslashes."""
    levels = draw(st.one_of(st.integers(0, 4), st.integers(MAX_DEPTH - 2, MAX_DEPTH + 3)))
    value: Any = draw(st.sampled_from(("]", 0, '\\"')))
    for _ in range(levels):
        if draw(st.booleans()):
            value = {draw(st.sampled_from(KEYS)): value}
        else:
            value = [*draw(st.lists(st.sampled_from(BESIDE), max_size=1)), value]
    return depth(value), json.dumps(value).encode()


broken = st.sampled_from(
    [b'{"a": "x', b"}}}}", b'{"a": [[[', b'"', b"\\", b'x"y"]]]', b'{"a": 1]]', b"]" * 70, b'"\\', b'\\"', b'["\\\\']
)


@given(records=st.lists(st.one_of(nested(), broken), min_size=1, max_size=5), step=st.sampled_from([64, 192, 1 << 18]))
def test_no_line_that_nests_too_deep_is_overlooked(records: list[tuple[int, bytes] | bytes], step: int) -> None:
    data = b"\n".join(record if isinstance(record, bytes) else record[1] for record in records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "STEP", step)
        patch.setattr(nesting, "FEW", 0)
        seen = may_nest_too_deep(data, lines=True)
    deepest = max((record[0] for record in records if isinstance(record, tuple)), default=0)
    assert seen or deepest <= MAX_DEPTH
    if not any(isinstance(record, bytes) for record in records) and deepest < MAX_DEPTH // 2:
        assert not seen


@given(nested())
def test_the_exact_depth(record: tuple[int, bytes]) -> None:
    levels, data = record
    assert nests_too_deep(data) == ("" if levels > MAX_DEPTH else None)


@pytest.mark.parametrize(
    ("value", "deep"),
    [
        pytest.param({"x": nest(MAX_DEPTH - 1)}, None, id="a hundred levels with the record"),
        pytest.param({"x": nest(MAX_DEPTH)}, "", id="a hundred and one"),
        pytest.param([{"calls": [{"arguments": nest(MAX_DEPTH)}]}], None, id="arguments count by themselves"),
        pytest.param(
            [{"calls": [{"arguments": nest(MAX_DEPTH + 1)}]}], "arguments", id="and may be too deep themselves"
        ),
        pytest.param({"input": nest(60, {"input": nest(60)})}, "input", id="those inside of others do not"),
        pytest.param({"tools": nest(MAX_DEPTH), "x": nest(MAX_DEPTH)}, "", id="the record is told first"),
    ],
)
def test_what_counts_from_where(value: Any, deep: str | None) -> None:
    assert nests_too_deep(json.dumps(value).encode()) == deep


def test_a_key_that_comes_again_hides_nothing() -> None:
    data = b'{"a": ' + json.dumps(nest(MAX_DEPTH)).encode() + b', "a": 1}'
    assert nests_too_deep(data) == ""
    [found] = read_bytes(b'{"messages": [{"role": "user", "content": "Hi"}], "b": ' + data + b"}", "a.json")
    assert isinstance(found, ParseError)


def test_numbers_of_any_length_hide_nothing() -> None:
    assert nests_too_deep(b'{"n": ' + b"9" * 5000 + b', "a": ' + json.dumps(nest(MAX_DEPTH)).encode() + b"}") == ""


@pytest.mark.parametrize("before", range(0, 64, 7))
@pytest.mark.parametrize("slashes", [1, 2, 3, 40, 41, 63, 64, 65, 1_000, 1_001])
def test_backslashes_before_a_quote(slashes: int, before: int) -> None:
    """An even number of them ends the text, and the brackets count; an odd one does not; many hide which it is."""
    start, ends = b" " * before + b'{"a": "' + b"\\" * slashes, slashes % 2 == 0
    brackets = b"[" * 300 + b"]" * 300
    data = start + (b'", "b": ' + brackets + b"}" if ends else b'" ' + brackets + b'"}')
    assert json.loads(data)
    seen = may_nest_too_deep(data, lines=False)
    assert seen or not ends
    if slashes < 64:
        assert seen is ends


def test_brackets_in_texts_are_no_levels() -> None:
    rows = [{"messages": [{"role": "user", "content": "[{" * 500}]} for _ in range(50)]
    data = json.dumps(rows).encode()
    assert not may_nest_too_deep(data, lines=False)
    assert not may_nest_too_deep(b"\n".join(json.dumps(row).encode() for row in rows), lines=True)
    assert all(isinstance(found, Trajectory) for found in read_bytes(data, "a.json"))


@pytest.mark.parametrize("more", [b"", b"},", b'"},'])
def test_a_deep_element_of_an_array_with_faults_is_refused_too(more: bytes) -> None:
    row = b'{"messages": [{"role": "user", "content": "Hi"}], "x": '
    data = b"[" + more + row + b"1},\n" + row + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}]"
    found = list(read_bytes(data, "a.json", format="openai_chat"))
    assert [item.reason for item in found if isinstance(item, ParseError) and "nested deeper" in item.reason]
