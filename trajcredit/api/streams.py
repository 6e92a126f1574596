"""Answers that go on until something ends: how many there may be at once, and when the server wants them to end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trajcredit.api.problems import RETRY_AFTER, RefusedError

__all__ = ["MOST_STREAMS", "Streams"]

MOST_STREAMS = 100


class Streams:
    """The streams of one server. All of it is used on the event loop, so nothing is locked."""

    def __init__(self, most: int = MOST_STREAMS) -> None:
        self._most, self._open = most, 0
        self.stopping = False
        """Set once, when the server is told to stop: a stream then ends by itself, before it is cut off."""

    def check(self) -> None:
        """RefusedError where there are as many as may be."""
        if self._open >= self._most:
            raise RefusedError(
                503,
                f"{self._most} streams are open, which is the most: ask GET /runs/{{id}} instead, or come again",
                headers={"Retry-After": RETRY_AFTER},
            )

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Around a stream that is open."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
