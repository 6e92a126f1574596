"""What a judge is: trajectories cut into segments in, one verdict a trajectory out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from trajcredit.batching import Finding
from trajcredit.graph import SpanGraph

__all__ = ["Answers", "Basis", "Case", "Judge", "Means", "NoAnswers", "Scale", "Segment", "Spent", "Verdict"]

Scale: TypeAlias = Literal["state", "credit"]
"""What a score is: how things stand after a segment, in [0, 1], or what the segment itself did, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Segment:
    """What is judged as one; positions in its trajectory, ascending.

    actions  what the policy wrote, one at least: they share what is said of the segment
    spans    what belongs to it: the actions, and observations such as the results of its calls
    """

    actions: tuple[int, ...]
    spans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One trajectory to be judged; its segments in the order of their last actions, no span in two."""

    graph: SpanGraph
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one case.

    scores    one a segment, on the judge's scale; null where it has no opinion
    start     how things stood before the first action, in [0, 1]; 0 on the credit scale
    reasons   one a segment, empty where none was given
    findings  faults found, `span` a position in the trajectory
    missing   why it could not be judged to the end, though it was asked; null where it was. No score counts then
    """

    scores: tuple[float | None, ...]
    start: float
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Basis:
    """What verdicts follow from besides the trajectory: the same fingerprint, the same question asked of the same."""

    fingerprint: str
    model: str | None = None
    prompt_version: str | None = None


class Answers(Protocol):
    """Answers that were paid for, by the SHA-256 (hex) of the canonical request; kept the moment they come."""

    def get(self, key: str) -> bytes | None:
        """The answer, if there is one."""
        ...

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; it is safe when this returns."""
        ...


class NoAnswers:
    """Nothing is kept."""

    def get(self, key: str) -> bytes | None:
        """None."""
        return None

    def put(self, key: str, answer: bytes) -> None:
        """Forget it."""


@dataclass(slots=True)
class Spent:
    """What asking cost so far. `requests` were sent, retries among them; `cached` were answered from what was kept."""

    requests: int = 0
    retries: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Answers of which the server did not say how many tokens they took: neither tokens nor cost have them."""
    cost: float = 0.0
    """In the unit of the prices configured; 0 where none are."""
    away: str | None = None
    """Why nobody is asked any more: the model counts as away."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a judge works with, which is no part of what it says."""

    answers: Answers = field(default_factory=NoAnswers)
    models: Mapping[str, Any] = field(default_factory=dict)
    """Models that an operator has configured, by the names that requests may use."""
    stopped: Callable[[], bool] = bool
    """Whether to give up: a judge looks before it asks again, and then ends; what it has not yielded stays unjudged."""
    spent: Spent = field(default_factory=Spent)


class Judge(Protocol):
    """A frozen dataclass whose fields are its parameters; registered under a name.

    `scale` and `segments` (a kind of `segments.KINDS`) may be class facts, or follow from the parameters.
    """

    @property
    def scale(self) -> Scale:
        """What its scores are."""
        ...

    @property
    def segments(self) -> str:
        """What it judges as one."""
        ...

    @property
    def local(self) -> bool:
        """Whether it asks nobody and reads no file, so that it can be asked again at any time with the same answer."""
        ...

    def basis(self, means: Means) -> Basis:
        """What it goes by; InputError where it cannot work with these means."""
        ...

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        """One verdict a case, in their order; fewer where it was stopped. Cases are taken as they are needed."""
        ...
