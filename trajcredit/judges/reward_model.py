"""A local classifier scores how things stand after every segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from trajcredit.arrays import F64
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.judges.base import Basis, Case, Means, Scale, Verdict
from trajcredit.judges.models import Weights
from trajcredit.judges.reward_text import RENDERING, rendered
from trajcredit.judges.reward_weights import Network, fingerprint, network
from trajcredit.judges.segments import KINDS
from trajcredit.registry import judges

__all__ = ["RewardModel"]

Device: TypeAlias = Literal["auto", "cpu", "cuda"]
AT_ONCE = 32
"""Trajectories whose texts are sorted by length together."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One sequence to read: which case it is of, its tokens, and which places it scores: of a case, of the tokens."""

    case: int
    tokens: list[int]
    places: list[tuple[int, int]]


@judges.register("reward_model")
@dataclass(frozen=True, slots=True)
class RewardModel:
    """A sequence classifier, or a process reward model, reads the transcript and gives the chance of success.

    A ...ForSequenceClassification reads the text up to the end of each segment; a ...ForTokenClassification reads all
    of it once, and what it says at the last token of a segment counts. One class: the sigmoid of its logit; several:
    the softmax of the positive one. Weights are safetensors from a folder; nothing in it is run, nothing is fetched.
    docs/judges_models.md has the text, and what is cut.
    """

    path: str | None = None
    """The folder; over HTTP only `model` may name one."""
    model: str | None = None
    """Name of a configured folder; none = the only one there is."""
    segments: str = "action"
    """What is judged as one."""
    positive: int | None = None
    """The class that means success; none = class 1 of two."""
    max_tokens: int = 2048
    """Of a text, 16..1000000; what is longer loses its beginning, and the reason says so."""
    batch_tokens: int = 4096
    """Read at once, with padding; a GPU takes more."""
    device: Device = "auto"
    """`auto`: CUDA where it is."""

    scale: ClassVar[Scale] = "state"
    local: ClassVar[bool] = False
    needs_model: ClassVar[type] = Weights

    @property
    def reads_files(self) -> bool:
        """Whether it names a folder itself, as no request may."""
        return self.path is not None

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        if self.segments not in KINDS:
            raise UnknownNameError("kind of segment", self.segments, KINDS)
        if self.device not in get_args(Device):
            raise InputError(f"judge reward_model: device must be one of {', '.join(get_args(Device))}")
        for name, low in (("max_tokens", 16), ("batch_tokens", 1)):
            if not low <= getattr(self, name) <= 1_000_000:
                raise InputError(f"judge reward_model: {name} must be from {low} to 1,000,000")

    def basis(self, means: Means) -> Basis:
        """Weights, tokenizer, text and parameters; InputError where the folder holds no model that can be used."""
        path = self._path(means)
        said = (fingerprint(path), RENDERING, self.segments, self.positive, self.max_tokens)
        return Basis(sha256(repr(said).encode()).hexdigest()[:12], path.name, RENDERING)

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        """Verdicts in order of the cases, read by length."""
        net = network(self._path(means), self.device)
        positive = self._positive(net)
        rest = iter(cases)
        while not means.stopped() and (some := list(islice(rest, AT_ONCE))):
            yield from self._window(net, positive, some)

    def _window(self, net: Network, positive: int | None, cases: list[Case]) -> Iterator[Verdict]:
        pieces, cut = list[_Piece](), list[set[int]]()
        for number, case in enumerate(cases):
            own, short = _pieces(net, case, number, self._room(net))
            pieces += own
            cut.append(short)
        scores = [np.full(len(case.segments) + 1, np.nan) for case in cases]
        for some in _batches(pieces, self.batch_tokens):
            found = net.logits([piece.tokens for piece in some])
            for piece, logits in zip(some, found, strict=True):
                for place, token in piece.places:
                    row = logits if net.kind == "sequence" else logits[token]
                    scores[piece.case][place] = _chance(row, positive)
        for case, found_scores, short in zip(cases, scores, cut, strict=True):
            yield _verdict(case, found_scores, short, self._room(net))

    def _room(self, net: Network) -> int:
        most = self.max_tokens if net.longest is None else min(self.max_tokens, net.longest)
        return max(1, most - len(net.before) - len(net.after))

    def _positive(self, net: Network) -> int | None:
        if net.classes == 1:
            return None
        if self.positive is None and net.classes != 2:
            raise InputError(f"judge reward_model: the model has {net.classes} classes; positive= names one")
        positive = 1 if self.positive is None else self.positive
        if not 0 <= positive < net.classes:
            raise InputError(f"judge reward_model: positive={positive}, and the model has {net.classes} classes")
        return positive

    def _path(self, means: Means) -> Path:
        if self.path is not None:
            if self.model is not None:
                raise InputError("judge reward_model: either path or model")
            return Path(self.path)
        known = {name: one for name, one in means.models.items() if isinstance(one, Weights)}
        if not known:
            raise InputError("judge reward_model: path= names the folder of the model, or model= a configured one")
        if self.model is None and len(known) > 1:
            raise InputError(f"judge reward_model: several models are configured, name one: {', '.join(known)}")
        name = self.model or next(iter(known))
        if name not in known:
            raise UnknownNameError("configured model", name, known)
        return Path(known[name].path)


def _pieces(net: Network, case: Case, number: int, room: int) -> tuple[list[_Piece], set[int]]:
    """The sequences of a case; which places lost the beginning of their text. Place 0 is before the first action."""
    text, begins, ends = rendered(case)
    tokens, stops = net.tokens(text)
    lengths = np.searchsorted(stops, [begins, *ends], side="right").tolist()  # tokens that end by there
    wanted = [(place, length) for place, length in enumerate(lengths) if length > 0]
    short = {place for place, length in wanted if length > room}
    if net.kind == "sequence":
        return [_Piece(number, tokens[max(0, n - room) : n], [(place, n - 1)]) for place, n in wanted], short
    found, start, half = list[_Piece](), 0, max(1, room // 2)
    while wanted:
        here = [(place, n - 1 - start) for place, n in wanted if n - start <= room]
        if here:
            found.append(_Piece(number, tokens[start : start + room], here))
        wanted = [(place, n) for place, n in wanted if n - start > room]
        start += half
    return found, short


def _batches(pieces: list[_Piece], most: int) -> Iterator[list[_Piece]]:
    """By length, so many at once as their tokens with padding allow."""
    batch = list[_Piece]()
    for piece in sorted(pieces, key=lambda one: len(one.tokens)):
        if batch and len(piece.tokens) * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch


def _chance(logits: F64, positive: int | None) -> float:
    """Sigmoid of the only class, or softmax of the positive one."""
    if positive is None:
        return float(1.0 / (1.0 + np.exp(-np.clip(logits[0], -700, 700))))
    exact = np.exp(logits - logits.max())
    return float(exact[positive] / exact.sum())


def _verdict(case: Case, scores: F64, short: set[int], room: int) -> Verdict:
    """Where no text comes before the first action, it starts where the first segment ends, which then did nothing."""
    own = scores[1:]
    if np.isnan(own).any():
        nothing = (None,) * len(own)
        return Verdict(nothing, 0.0, missing="the model gave no number")
    start = scores[0] if not np.isnan(scores[0]) else own[0] if len(own) else 0.0
    reasons = tuple(f"read from its last {room:,} tokens" if k + 1 in short else "" for k in range(len(own)))
    return Verdict(tuple(own.tolist()), float(start), reasons if short else ())
