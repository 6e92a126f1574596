"""The canonical form goes out and comes back equal, in every shape a file may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests import laws
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.model import Span, Trajectory, decode, encode

LINE = encode(Trajectory(id="t", spans=[Span("user", -1, "hello")]))


@given(laws.any_trajectory())
def test_a_trajectory_that_is_written_and_decoded_is_equal(trajectory: Trajectory) -> None:
    assert decode(encode(trajectory)) == trajectory


@given(st.lists(laws.any_trajectory(), min_size=1, max_size=3), st.sampled_from([b"%b\n", b"[%b]"]))
def test_what_is_written_is_read_back_equal(trajectories: list[Trajectory], around: bytes) -> None:
    trajectories = [replace(t, id=f"{i}-{t.id}") for i, t in enumerate(trajectories)]
    between = b"\n" if around.endswith(b"\n") else b", "
    data = around % between.join(map(encode, trajectories))
    assert list(read_bytes(data, "a.jsonl")) == trajectories


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(
            LINE.replace(b"trajectory/1", b"trajectory/2"),
            "Invalid value 'trajcredit.trajectory/2'",
            id="another version",
        ),
        pytest.param(
            LINE.replace(b'"text"', b'"words"'),
            "Object contains unknown field `words` - at `$.spans[0]`",
            id="a key that does not belong",
        ),
        pytest.param(
            LINE.replace(b'"turn":-1', b'"turn":-1,"result_of":0'),
            "span 0 is a user and cannot be the result of span 0",
            id="a result of itself",
        ),
        pytest.param(
            LINE.replace(b'"turn":-1', b'"turn":-1,"value":1e999'), "Number out of range", id="no finite number"
        ),
        pytest.param(
            LINE.replace(b'"turn":-1', b'"turn":-1,"value":NaN'),
            "NaN is not a finite number - at `$.spans[0].value`",
            id="NaN",
        ),
        pytest.param(
            LINE.replace(b'"turn":-1', b'"turn":-1,"arguments":' + b"[" * 101 + b"]" * 101),
            "nested deeper than 100 levels",
            id="arguments of a hundred and one levels",
        ),
        pytest.param(
            LINE.replace(b'"spans"', b'"edges":[{"parent":0,"child":0,"kind":"explicit"}],"spans"'),
            "edge 0 -> 0: a parent must be an earlier span than its child",
            id="an edge to itself",
        ),
    ],
)
def test_a_line_that_does_not_hold_is_an_error_in_its_place(line: bytes, reason: str) -> None:
    found = list(read_bytes(LINE + b"\n" + line + b"\n", "a.jsonl"))
    assert isinstance(found[1], ParseError)
    assert (found[1].file, found[1].line) == ("a.jsonl", 2)
    assert reason in found[1].reason


@pytest.mark.parametrize("field", ["turn", "step", "tokens.n", "message_index", "parent.span", "report.span", "ids"])
@pytest.mark.parametrize("number", [2**62, 2**63, 2**70, -(2**70), 10**400], ids=lambda n: f"{n.bit_length()} bits")
def test_an_integer_that_is_too_large_is_a_row_of_the_report_or_comes_back_exact(field: str, number: int) -> None:
    where, value = {
        "turn": (b'"turn":-1', b'"turn":%d'),
        "step": (b'"spans"', b'"step":%d,"spans"'),
        "tokens.n": (b'"turn":-1', b'"turn":-1,"tokens":{"n":%d}'),
        "message_index": (b'"turn":-1', b'"turn":-1,"message_index":%d'),
        "parent.span": (b'"spans"', b'"parent":{"trajectory":"u","span":%d},"spans"'),
        "report.span": (b'"spans"', b'"report":[{"code":"c","message":"m","span":%d}],"spans"'),
        "ids": (b'"turn":-1', b'"turn":-1,"tokens":{"ids":[%d]}'),
    }[field]
    line = LINE.replace(where, value % number)
    before, found, after = read_bytes(LINE + b"\n" + line + b"\n" + line.replace(b'"t"', b'"u"'), "a.jsonl")
    assert isinstance(before, Trajectory)
    assert type(found) is type(after)
    if isinstance(found, ParseError):
        assert (found.file, found.line) == ("a.jsonl", 2)
        assert field.removesuffix(".span") in found.reason
    else:
        assert field not in ("turn", "step", "tokens.n")
        assert decode(encode(found)) == found


def test_half_a_surrogate_pair_from_another_writer_is_replaced_and_noted() -> None:
    [found] = read_bytes(LINE.replace(b"hello", rb"hello \ud83d"), "a.jsonl")
    assert isinstance(found, Trajectory)
    assert found.spans[0].text == "hello \ufffd"
    assert [note.code for note in found.report] == ["sanitised"]
