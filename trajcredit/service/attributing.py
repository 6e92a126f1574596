"""The one place that runs attributors: code that may not be ours, so whatever comes back is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from math import fsum, isfinite, isnan
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from trajcredit import critics, judges, registry
from trajcredit.attributors import Attribution, Attributor, Term
from trajcredit.batching import Batch
from trajcredit.errors import InputError, TrajcreditError
from trajcredit.exporters import Credit
from trajcredit.model import Note
from trajcredit.service.judged import judged
from trajcredit.service.trusting_note import checked, outage

__all__ = ["Filled", "asked", "explained", "foreign", "scored"]

Filled: TypeAlias = dict[str, Batch]
"""What critics said of one batch, by their names, or the files of fitted ones."""

TOLERANCE = 1e-6
"""How far the terms of a span may be from its credit; a million-millionth of their sizes is allowed for rounding."""
OF_TRAJECTORIES = frozenset(
    {"outcome", "group", "pool", "terminated", "truncated", "policy_version", "bootstrap", "score_start"}
)
"""Columns of the batch with one value a trajectory."""
PUT_IN = "put your own in with dataclasses.replace(batch, {name}=...)"
CRITIC = f"name a critic that fills it (`critic=`), or {PUT_IN}"
JUDGE = f"name a judge that fills it (`judge=`), or {PUT_IN}"
FILLED_BY = {
    "values": "log `value` on the spans, or name a critic that fills it (`critic=`)",
    "bootstrap": "log `bootstrap` on the trajectories",
    "n_tokens": "log `tokens` on the spans",
    "outcome": "log rewards",
    "info": f"no log format read so far has it: {PUT_IN}",
    "q_values": CRITIC,
    "advantage_forecast": CRITIC,
    "scores": JUDGE,
    "segment": JUDGE,
}
"""Column -> how it comes to have values."""


@contextmanager
def foreign(doing: str) -> Iterator[None]:
    """What foreign code raises becomes an InputError that says what it was `doing`; errors of ours pass as they are."""
    try:
        yield
    except TrajcreditError:
        raise
    except registry.FOREIGN as error:
        raise InputError(f"{doing}: {type(error).__name__}: {error}") from error


def scored(
    batch: Batch,
    label: str,
    attributor: Attributor,
    critic: str | None = None,
    filled: Filled | None = None,
    judge: str | None = None,
    ask: Callable[[Batch, str], Batch] = judged,
    call: Callable[[Attributor, Batch], Attribution] = lambda attributor, batch: attributor(batch),
) -> Credit:
    """What an attributor says of a batch; InputError names it where that is no attribution, or a column is empty.

    Columns of a critic are filled first: of the `critic` named, else of the attributor's own default where it needs one
    that holds nothing; likewise those of a judge, the one named or the attributor's own, by `ask`. `filled` keeps what
    a critic said of this batch for the next attributor. An attributor that refuses an empty column in its own words is
    heard first. `call` is how the attributor is called, where an engine does it.
    """
    fault = registry.attributors.fault(attributor)
    if fault is not None:
        raise InputError(f"attributor {label!r} cannot be used: {fault}")
    known = len(batch.notes)
    batch = _criticised(batch, label, attributor, critic, {} if filled is None else filled)
    batch = _judged(batch, label, attributor, judge, ask)
    unfilled = _unfilled(batch, label, attributor)
    try:
        found = call(attributor, batch)
    except TrajcreditError:
        raise
    except registry.FOREIGN as error:
        raise unfilled or InputError(f"attributor {label!r} failed: {type(error).__name__}: {error}") from error
    if unfilled is not None:
        raise unfilled
    _check(batch, label, found)
    parameters = {field.name: getattr(attributor, field.name) for field in fields(attributor)}  # type: ignore[arg-type]  # a dataclass; Protocols cannot say so
    notes = (*batch.notes[known:], *found.notes, *checked(batch, attributor, judge))
    return Credit(batch, label, parameters, found.credit, found.advantage, notes)


def _criticised(batch: Batch, label: str, attributor: Attributor, critic: str | None, filled: Filled) -> Batch:
    """The batch with the columns of the critic that is named, or that the attributor cannot do without."""
    if critic is None:
        own = getattr(attributor, "default_critic", None)
        needed = [name for name in attributor.needs if name in critics.COLUMNS]
        if own is None or all(np.isfinite(getattr(batch, name)[batch.action_mask]).any() for name in needed):
            return batch
        critic = own
    if critic not in filled:
        with foreign(f"the critic {critic!r} of attributor {label!r} failed"):
            filled[critic] = asked(batch, critic)
    return filled[critic]


def _judged(
    batch: Batch, label: str, attributor: Attributor, judge: str | None, ask: Callable[[Batch, str], Batch]
) -> Batch:
    """The batch with the columns of the judge that is named, or of the attributor's own where it needs one that holds
    nothing."""
    if judge is None:
        needed = [getattr(batch, name) for name in attributor.needs if name in judges.COLUMNS]
        if all(np.isfinite(column[batch.action_mask]).any() for column in needed):
            return batch
        judge = getattr(attributor, "default_judge", None)
    if judge is None:
        return batch
    with foreign(f"the judge {judge!r} of attributor {label!r} failed"):
        return ask(batch, judge)


def asked(batch: Batch, critic: str) -> Batch:
    """The batch with the columns of a critic: fitted to it by kind, or the fitted one of a file; kinds come first.

    UnknownNameError where it is neither.
    """
    if critic in critics.KINDS:
        return critics.fill(batch, critic)
    critics.known(critic)
    return critics.load(Path(critic)).fill(batch)


def explained(credit: Credit, attributor: Attributor, position: int) -> tuple[Term, ...]:
    """The terms of one span (a batch position), which add up to its credit; InputError where they do not."""
    batch = credit.batch
    who = f"attributor {credit.attributor!r}"
    place = _place(batch, position)
    with foreign(f"{who} failed to explain {place}"):
        found = attributor.explain(batch, position)
    if not isinstance(found, tuple | list):
        raise InputError(f"{who} explained {place} with {_kind(found)}; expected a tuple of Terms")
    terms = tuple(_term(term, f"{who} explained {place} with", batch.n_spans) for term in found)
    total, said = fsum(term.value for term in terms), float(credit.credit[position])
    if isnan(said):
        if terms:
            raise InputError(f"{who} explained {place}, which it gave no credit; expected no terms")
    elif abs(total - said) > TOLERANCE + 1e-12 * fsum(abs(term.value) for term in terms):
        raise InputError(f"{who} explained {place} with terms that add up to {total:.9g}; its credit is {said:.9g}")
    return terms


def _check(batch: Batch, label: str, found: Any) -> None:
    if not isinstance(found, Attribution):
        raise InputError(f"attributor {label!r} gave {_kind(found)}; expected an Attribution")
    for name, column in (("credit", found.credit), ("advantage", found.advantage)):
        if not (type(column) is np.ndarray and column.dtype == np.float64 and column.shape == (batch.n_spans,)):
            expected = f"float64[{batch.n_spans}], one number a span"
            raise InputError(f"attributor {label!r} gave {name} as {_kind(column)}; expected {expected}")
        for wrong, expected in (
            (~np.isnan(column) & ~batch.action_mask, ", an observation; expected NaN: only actions carry credit"),
            (np.isinf(column), "; expected a finite number, or NaN where nothing is scored"),
        ):
            if wrong.any():
                first = int(wrong.argmax())
                found_there = f"gave {name} {column[first]} to {_place(batch, first)}"
                raise InputError(f"attributor {label!r} {found_there}{expected}")
    notes: Any = found.notes
    if not isinstance(notes, tuple | list):
        raise InputError(f"attributor {label!r} gave notes as {_kind(notes)}; expected a tuple of Notes")
    for note in notes:
        if not (isinstance(note, Note) and {type(note.code), type(note.message)} == {str}):
            raise InputError(f"attributor {label!r} gave {note!r} as a note; expected a Note, code and message as text")


def _term(term: Any, said: str, n_spans: int) -> Term:
    """The term in plain numbers."""
    if not isinstance(term, Term):
        raise InputError(f"{said} {term!r}; expected a Term")
    if not isinstance(term.name, str):
        raise InputError(f"{said} a term named {term.name!r}; expected text")
    if not (isinstance(term.value, Real) and isfinite(term.value)):
        raise InputError(f"{said} a term of {term.value!r}; expected a finite number")
    if not isinstance(term.spans, tuple | list):
        raise InputError(f"{said} a term from {_kind(term.spans)}; expected a tuple of span positions")
    for span in term.spans:
        if not (isinstance(span, Integral) and 0 <= span < n_spans):
            raise InputError(f"{said} a term from span {span!r}; expected positions in the batch, 0 to {n_spans - 1}")
    return Term(term.name, float(term.value), tuple(map(int, term.spans)))


def _unfilled(batch: Batch, label: str, attributor: Attributor) -> InputError | None:
    """What to say of the first column it needs that holds nothing on any action; None where all do."""
    for name in attributor.needs:
        column = getattr(batch, name, None)
        if not isinstance(column, np.ndarray):
            return InputError(f"attributor {label!r} needs the column `{name}`, which no batch has")
        on = "trajectory" if name in OF_TRAJECTORIES else "action span"
        of_spans = on == "action span" and column.shape == batch.action_mask.shape
        looked_at = column[batch.action_mask] if of_spans else column
        known = np.isfinite(looked_at) if column.dtype.kind == "f" else looked_at >= 0
        if len(looked_at) and not known.any():
            why = outage(batch) if name in judges.COLUMNS else None
            how = why or FILLED_BY.get(name, PUT_IN).format(name=name)
            return InputError(f"attributor {label!r} needs the column `{name}`, and no {on} has a value: {how}")
    return None


def _place(batch: Batch, position: int) -> str:
    t = batch.trajectory_of(position)
    return f"span {position - int(batch.span_offsets[t])} of {batch.trajectory_ids[t]!r}"


def _kind(value: object) -> str:
    """What something is, for a person: float64[3], list, NoneType."""
    return f"{value.dtype}{list(value.shape)}" if type(value) is np.ndarray else type(value).__name__
