"""No bytes make a reader crash: what comes out is a valid trajectory, or an error with file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import laws
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Trajectory, check, decode, encode
from trajcredit.registry import formats

LOGS = sorted((Path(__file__).parent.parent / "data").glob("*.json*"))
FORMATS = [None, *formats.items()]
seeds = st.sampled_from([path.read_bytes() for path in LOGS])
pieces = st.sampled_from(
    [
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"\n",
        b"\0",
        b"\xff",
        b"\\u0000",
        b"\\ud83d",
        b"NaN",
        b"1e999",
        b"null",
        b"-1",
        b"9223372036854775808",
        b"1180591620717411303424",
        b'"role"',
        b'"tool"',
        b'"assistant"',
        b"",
    ]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A log with a few stretches replaced, doubled or cut out."""
    data = draw(seeds)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(start + 40, len(data))))
        new = draw(st.one_of(pieces, st.binary(max_size=4), st.just(data[start:end] * 2)))
        data = data[:start] + new + data[end:]
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def hold(data: bytes, format: str | None) -> None:
    seen: set[str] = set()
    for item in read_bytes(data, "a.log", format=format):
        if isinstance(item, ParseError):
            assert item.file == "a.log"
            assert item.line is None or item.line > 0
            assert item.reason
        else:
            check(item)
            assert decode(encode(item)) == item
            assert item.id not in seen
            seen.add(item.id)
            notes = [] if is_canonical(item) else item.report  # in ours, anybody may have written them
            assert all(note.span is None or 0 <= note.span < len(item.spans) for note in notes)


def is_canonical(item: Trajectory) -> bool:
    """Whether it came as it is: the other readers say where they found it."""
    return item.source is None or item.source.file != "a.log"


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_a_log_holds_as_it_is(path: Path) -> None:
    data = path.read_bytes()
    hold(data, None)
    format = max((name for name in formats.items() if path.name.startswith(name)), key=len)
    found = list(read_bytes(data, "a.log", format=format))
    assert any(isinstance(item, Trajectory) and item.spans for item in found)
    assert found == list(read_bytes(data, "a.log")) or any(isinstance(item, ParseError) for item in found)


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.binary(max_size=60))
def test_random_bytes(format: str | None, data: bytes) -> None:
    hold(data, format)


@pytest.mark.parametrize("format", FORMATS)
@given(data=mutated())
def test_damaged_logs(format: str | None, data: bytes) -> None:
    hold(data, format)


@given(rows=st.lists(laws.chat_rows, min_size=1, max_size=3), between=st.sampled_from([b"\n", b",\n"]))
def test_chat_rows_of_careless_writers(rows: list[Any], between: bytes) -> None:
    text = between.join(map(msgspec.json.encode, rows))
    hold(text if between == b"\n" else b"[" + text + b"]", None)


@given(rows=st.lists(laws.messages, min_size=1, max_size=8), reward=laws.json_values, task=laws.json_values)
def test_tau_bench_rows_of_careless_writers(rows: list[Any], reward: Any, task: Any) -> None:
    hold(msgspec.json.encode({"task_id": task, "reward": reward, "traj": rows, "trial": 1}), "tau_bench")


@given(
    rows=st.lists(laws.any_trajectory(), min_size=1, max_size=3),
    old=st.sampled_from([b"0", b"1", b"null", b"true", b'"', b":", b"}", b"user"]),
    new=pieces,
)
def test_canonical_lines_of_careless_writers(rows: list[Trajectory], old: bytes, new: bytes) -> None:
    hold(b"\n".join(map(encode, rows)).replace(old, new, 1), None)


@given(messages=st.lists(laws.messages, min_size=1, max_size=8))
def test_lines_of_messages_of_careless_writers(messages: list[Any]) -> None:
    hold(b"\n".join(map(msgspec.json.encode, messages)), "openai_chat")


def test_the_same_bytes_make_the_same_trajectories() -> None:
    for path in LOGS:
        first, again = (list(read_bytes(path.read_bytes(), path.name)) for _ in range(2))
        assert [t for t in first if isinstance(t, Trajectory)] == [t for t in again if isinstance(t, Trajectory)]
