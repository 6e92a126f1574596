"""Reading ahead: the same items in the same order, no more of them than said, and the collector as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats import ahead
from trajcredit.formats.ahead import read_ahead
from trajcredit.model import Span, Trajectory


def some(n: int, pulled: list[int], spans: int = 3) -> Iterator[Trajectory | ParseError]:
    for k in range(n):
        pulled.append(k)
        yield (
            ParseError("broken", "a.log", k)
            if k % 7 == 6
            else Trajectory(id=str(k), spans=[Span("user", -1, "x")] * spans)
        )


def test_items_come_as_they_are_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "SPANS", 10)
    found, plain = list(read_ahead(some(50, []))), list(some(50, []))
    assert [getattr(item, "id", str(item)) for item in found] == [getattr(item, "id", str(item)) for item in plain]


@pytest.mark.parametrize(
    ("spans", "ahead_of_it"),
    [pytest.param(3, 3, id="short ones: until the spans are full"), pytest.param(99, 1, id="long ones: one by one")],
)
def test_no_more_is_read_ahead_than_the_memory_should_hold(
    monkeypatch: pytest.MonkeyPatch, spans: int, ahead_of_it: int
) -> None:
    monkeypatch.setattr(ahead, "SPANS", 10)
    pulled: list[int] = []
    items = read_ahead(some(50, pulled, spans))
    next(items)
    assert len(pulled) == ahead_of_it


def test_what_came_before_an_error_comes_before_it() -> None:
    def broken() -> Iterator[Trajectory | ParseError]:
        yield from some(3, [])
        raise ZeroDivisionError

    items = read_ahead(broken())
    assert [getattr(next(items), "id", None) for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(ZeroDivisionError):
        next(items)


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was(running: bool) -> None:
    states: list[bool] = []

    def watched() -> Iterator[Trajectory | ParseError]:
        for item in some(3, []):
            states.append(gc.isenabled())
            yield item
        raise RuntimeError("a reader's own mistake")

    before = gc.isenabled()
    (gc.enable if running else gc.disable)()
    try:
        with pytest.raises(RuntimeError):
            list(read_ahead(watched()))
        assert gc.isenabled() == running
        for _ in read_ahead(some(20, [])):
            assert gc.isenabled() == running
    finally:
        (gc.enable if before else gc.disable)()
    assert states == [False] * 3
