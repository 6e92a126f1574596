"""The judge that `judge=` names, or several joined by +, and what it says of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from trajcredit import judges, kernels, registry
from trajcredit.arrays import F64
from trajcredit.batching import Batch, Finding
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.judges.ensemble import combined
from trajcredit.model import Note

__all__ = ["judged", "known", "local", "parts", "same_scale", "together"]

KEPT = "j_"
"""How ids of judgings begin, which a database keeps."""


def local(name: str) -> bool:
    """Whether a judge of that name is registered which asks nobody and reads no file."""
    found = registry.judges.items().get(name)
    return found is not None and bool(found().local)


def known(spec: str) -> None:
    """InputError or UnknownNameError where a part of `a+b` is neither a judge to ask on the spot nor a file."""
    for name in parts(spec):
        if local(name) or name.startswith(KEPT) or Path(name).is_file():
            continue
        if name in registry.judges.items():
            raise InputError(
                f"judge {name!r} is not asked while credit is worked out: `trajcredit judge {name} ... -o FILE` writes "
                "what it says, and judge=FILE reads that"
            )
        if Path(name).suffix or Path(name).name != name:
            raise InputError(f"cannot read the opinions {name}: no such file")
        raise UnknownNameError("judge", name, [one for one in registry.judges.items() if local(one)])


def judged(batch: Batch, spec: str) -> Batch:
    """The batch with the columns of a judge asked on the spot, of the opinions of a file, or of the mean of several.

    InputError where several are on different scales.
    """
    known(spec)
    found, scales = list[tuple[str, Batch]](), dict[str, str]()
    for name in parts(spec):
        if name.startswith(KEPT) and not Path(name).is_file():
            raise InputError(f"judging {name} is kept in a database: `trajcredit run` hears it; here judge=FILE does")
        if local(name):
            scales[name] = registry.judges.get(name)().scale
            found.append((name, judges.judge(batch, name)))
        else:
            opinions = judges.load(Path(name))
            scales[name] = opinions.scale
            found.append((opinions.file, opinions.on(batch)))
    same_scale(scales)
    return together(found)


def same_scale(scales: Mapping[str, str]) -> None:
    """InputError where judges, by name, are not all on one scale: their steps have no common mean."""
    if len({*scales.values()}) > 1:
        said = ", ".join(f"{name} is on {scale}" for name, scale in scales.items())
        raise InputError(f"judges of one ensemble need one scale; {said}")


def together(found: list[tuple[str, Batch]]) -> Batch:
    """One batch out of one of each judge, by their names: the mean of their steps, and all that they found.

    Of judges that start from different states the mean start is taken. A trajectory that one of them could not judge to
    the end is not judged: no outage of one shifts the mean to the others. Segments are those of the first.
    """
    [(_, first), *others] = found
    if not others:
        return first
    batches = [first, *(batch for _, batch in others)]
    start = np.mean([batch.score_start for batch in batches], axis=0)
    steps = combined(np.stack([_steps(batch) for batch in batches]))
    scores = np.full(first.n_spans, np.nan)
    for t, (begin, end) in enumerate(pairwise(first.span_offsets.tolist())):
        opinions = begin + np.flatnonzero(~np.isnan(steps[begin:end]))
        scores[opinions] = start[t] + np.cumsum(steps[opinions])
    for column in (scores, start):
        column.setflags(write=False)
    findings = sorted((one for batch in batches for one in batch.findings), key=_place)
    notes = {note: None for batch in batches for note in batch.notes}
    said = Note("judge", f"the mean of the judges {', '.join(name for name, _ in found)}")
    return replace(first, scores=scores, score_start=start, findings=tuple(findings), notes=(*notes, said))


def parts(spec: str) -> list[str]:
    """The judges of `a+b`; InputError where one has no name, or is named twice."""
    names = spec.split("+")
    for name in names:
        if not name or names.count(name) > 1:
            raise InputError(f"judge {spec!r}: expected names or files joined by +, each once")
    return names


def _steps(batch: Batch) -> F64:
    """f64[N]: what each action did; NaN without an opinion."""
    moved = kernels.score_deltas(batch.scores, batch.score_start, batch.action_mask, batch.span_offsets)
    return np.where(np.isnan(batch.scores), np.nan, moved)


def _place(one: Finding) -> tuple[int, str]:
    return one.span, one.rule
