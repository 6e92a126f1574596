"""A batch and a judge -> the batch with the judge's scores and the reasons behind them."""

from __future__ import annotations

from typing import Any

from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.judges.base import Case, Judge, Means, Verdict
from trajcredit.judges.columns import with_verdicts
from trajcredit.judges.segments import segmented
from trajcredit.registry import judges

__all__ = ["COLUMNS", "judge"]

COLUMNS = ("scores",)
"""Columns that attributors may need a judge for."""


def judge(batch: Batch, asked: str | Judge, means: Means | None = None) -> Batch:
    """The batch with the columns of `with_verdicts`, by the judge of that name with its defaults, or one made already.

    Scores that are there already are replaced. UnknownNameError for a judge there is none of, InputError where the
    batch has no graphs, or the judge cannot work with these means.
    """
    made: Any = judges.get(asked)() if isinstance(asked, str) else asked
    name = next((name for name, kind in judges.items().items() if kind is type(made)), type(made).__name__)
    if batch.graphs is None:
        raise InputError(f"the judge {name!r} reads texts, and this batch was loaded without them")
    cases = [Case(graph, segmented(graph, made.segments)) for graph in batch.graphs]
    verdicts: list[Verdict | None] = list(made(cases, means or Means()))
    verdicts += [None] * (len(cases) - len(verdicts))
    return with_verdicts(batch, name, made.scale, cases, verdicts)
