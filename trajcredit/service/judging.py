"""Logs in, opinions out: a judge asked about every trajectory, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trajcredit import registry
from trajcredit.errors import InputError, StoreError, TrajcreditError
from trajcredit.graph import SpanGraph
from trajcredit.judges import Answers, Case, Judge, Means, NoAnswers, Opinion, Scale, Spent, Verdict, opinion, segmented
from trajcredit.judges.answers import FileAnswers
from trajcredit.judges.models import configured
from trajcredit.judges.opinions import encoded
from trajcredit.judges.opinions import wrong as out_of_range
from trajcredit.service.files import written_whole

__all__ = ["Judging", "asks_model", "kept_answers", "means_of", "opinions", "verdicts", "written"]

UNJUDGED = "it was stopped before this one was judged"


@dataclass(slots=True)
class Judging:
    """How far it is: trajectories judged, and why others are not."""

    judged: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    spent: Spent = field(default_factory=Spent)


def asks_model(judge: Judge) -> bool:
    """Whether a judge sends questions to a model that may cost something."""
    return bool(getattr(judge, "asks_model", False))


def kept_answers(path: Path) -> FileAnswers:
    """Answers that are kept in a file from one judging to the next; a context manager."""
    return FileAnswers(path)


def means_of(models: Path | None, answers: Answers | None = None, stopped: Callable[[], bool] = bool) -> Means:
    """What a judge works with: the operator's models, of a file or of the one that the environment names."""
    return Means(answers or NoAnswers(), configured(models), stopped)


def verdicts(judge: Judge, name: str, cases: Sequence[Case], means: Means) -> Iterator[Verdict]:
    """One verdict a case, whatever the judge does: what it raises, or leaves out, is said of the cases that are left.

    InputError of the judge ends it where nothing was judged yet: then it was asked wrongly. StoreError always does: no
    answer could be kept, which is no fault of the judge.
    """
    given = 0
    why = UNJUDGED
    try:
        for verdict in judge(cases, means):
            if given == len(cases):
                break
            yield _checked(verdict, cases[given], judge.scale)
            given += 1
    except StoreError:
        raise
    except InputError as error:
        if given == 0:
            raise
        why = f"the judge gave up: {error}"
    except TrajcreditError as error:
        why = f"the judge gave up: {error}"
    except registry.FOREIGN as error:
        why = f"the judge {name!r} failed: {type(error).__name__}"
    for case in cases[given:]:
        yield Verdict((None,) * len(case.segments), 0.0, missing=why)


def opinions(name: str, judge: Judge, graphs: Sequence[SpanGraph], means: Means) -> Iterator[Opinion]:
    """What a judge says, one row a trajectory, in their order and as they come."""
    basis = judge.basis(means)
    cases = [Case(graph, segmented(graph, judge.segments)) for graph in graphs]
    for case, verdict in zip(cases, verdicts(judge, name, cases, means), strict=True):
        yield opinion(name, judge.scale, basis, case, verdict)


def written(rows: Iterable[Opinion], done: Judging, out: Path) -> Judging:
    """The opinions in a file, which appears whole or not at all, counted in `done` while they come."""
    with written_whole(out) as file:
        for row in rows:
            file.write(encoded(row) + b"\n")
            if row.missing is None:
                done.judged += 1
            else:
                done.missing[row.missing] += 1
    return done


def _checked(verdict: object, case: Case, scale: Scale) -> Verdict:
    """A verdict of the right form, or one that says that the judge's own was not."""
    nothing = (None,) * len(case.segments)
    if not isinstance(verdict, Verdict):
        return Verdict(nothing, 0.0, missing=f"the judge gave {type(verdict).__name__}; expected a Verdict")
    if verdict.missing is None and len(verdict.scores) != len(case.segments):
        wrong = f"the judge gave {len(verdict.scores)} scores for {len(case.segments)} segments"
        return Verdict(nothing, 0.0, missing=wrong)
    if verdict.missing is None and verdict.reasons and len(verdict.reasons) != len(case.segments):
        wrong = f"the judge gave {len(verdict.reasons)} reasons for {len(case.segments)} segments"
        return Verdict(nothing, 0.0, missing=wrong)
    if verdict.missing is None:
        found = out_of_range(scale, verdict.start, verdict.scores, [one.severity for one in verdict.findings])
        here = range(len(case.graph.trajectory.spans))
        if found is None and any(one.span not in here for one in verdict.findings):
            found = f"findings: expected spans from 0 to {len(here) - 1}"
        if found is not None:
            return Verdict(nothing, 0.0, missing=f"the judge gave no opinion that can be kept: {found}")
    return verdict
