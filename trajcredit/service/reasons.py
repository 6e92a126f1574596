"""The arithmetic behind one number of a run: terms that add up to it, and the path it came along."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan

from trajcredit.attributors import Dag
from trajcredit.errors import InputError
from trajcredit.exporters import Credit
from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.service.asking import configured
from trajcredit.service.attributing import explained, scored
from trajcredit.service.hearing import Hearing
from trajcredit.service.replaying import as_one_group, as_the_run_grouped, filled
from trajcredit.service.versions import code_version
from trajcredit.service.wording import signed
from trajcredit.store import Store, documents, ids, run_credits, run_inputs, runs
from trajcredit.store.runs import Run
from trajcredit.store.shown import check_span

__all__ = ["PathStep", "Reason", "Why", "why"]

RELATIVE = 1e-9
"""How far a number worked out again may be from the one that was kept."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One summand of a span's credit, and the spans of this trajectory that it comes from: none of a sibling's."""

    name: str
    value: float
    spans: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathStep:
    """One edge on the best path from a span to where the outcome is looked at."""

    parent: int
    child: int
    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Why:
    """The terms add up to the credit within 1e-6. No terms where the run gave the span no number."""

    span: int
    credit: float | None
    advantage: float | None
    terms: tuple[Reason, ...]
    path: tuple[PathStep, ...]
    """From the span on; empty where it is a sink, where no path leads on, or where the attributor follows none."""


def why(store: Store, project: str, ref: str, run: str, span: int) -> Why:
    """Why a run gave a span its number, worked out from what the run read.

    InputError where that is not to be had any more: a wrong sum is never shown.
    """
    with store.read() as conn:
        found = runs.find(conn, project, run)
        one = ids.find(conn, project, ref)
        check_span(span, one.n_spans, ref)
        said = run_credits.said_of(conn, found, one.id)
        if said is None:
            return Why(span, None, None, (), ())
        kept, advantage = float(said.credit[span]), float(said.advantage[span])
        if isnan(kept):
            return Why(span, None, _number(advantage), (), ())
        made = configured(found.asked.attributor, found.asked.parameters)
        apart = made.attributor.scope == "group"
        members = run_inputs.members(conn, found, said.group_name if apart else None)
        loaded = run_inputs.seen(conn, found, [member.id for member in members])
        edits = run_inputs.edits_seen(found)
        graph = documents.graph(conn, project, one.id, edits) if isinstance(made.attributor, Dag) else None
        reads = getattr(made.attributor, "reads_texts", False)
        graphs = tuple(documents.graphs(conn, project, loaded.ids, edits)) if reads else None
        whole = run_inputs.is_whole(conn, found)
    batch = as_one_group(found, loaded, said.group_name) if apart else as_the_run_grouped(found, loaded)
    batch = replace(batch, graphs=graphs)
    t = loaded.ids.index(one.id)
    first, end = batch.span_offsets[t : t + 2].tolist()
    heard = Hearing(store, project, loaded.ids)
    credit = scored(batch, made.label, made.attributor, found.critic, filled(found, batch), made.judge, heard)
    _check(found, span, kept, float(credit.credit[first + span]), whole)
    terms = explained(credit, made.attributor, first + span)
    return Why(
        span=span,
        credit=kept,
        advantage=_number(advantage),
        terms=tuple(
            Reason(term.name, term.value, tuple(i - first for i in term.spans if first <= i < end)) for term in terms
        ),
        path=() if graph is None else _path(credit, made.attributor, graph, first, span),
    )


def _check(run: Run, span: int, kept: float, again: float, whole: bool) -> None:
    """InputError unless the number comes out as it was kept."""
    if abs(again - kept) <= RELATIVE * max(1.0, abs(kept)):
        return
    if not whole:
        cause = "a trajectory that it read was replaced or deleted since"
    elif run.asked.code_version != code_version():
        cause = f"the run was made by version {run.asked.code_version}, this is {code_version()}"
    else:
        cause = "what it read is not what is stored now"
    now = "no number" if isnan(again) else signed(again)
    raise InputError(
        f"run {run.asked.label!r} gave span {span} {signed(kept)}; worked out again it gets {now}: {cause}. "
        "Run it again to have its numbers explained"
    )


def _path(credit: Credit, attributor: object, graph: SpanGraph, first: int, span: int) -> tuple[PathStep, ...]:
    if not isinstance(attributor, Dag):
        return ()
    route = [i - first for i in attributor.path(credit.batch, first + span)]
    steps = []
    for parent, child in pairwise(route):
        edge = int(graph.parent_offsets[child]) + int(graph.parents_of(child).searchsorted(parent))
        steps.append(PathStep(parent, child, EDGE_KINDS[graph.kind[edge]], graph.evidence(edge).why))
    return tuple(steps)


def _number(value: float) -> float | None:
    return None if isnan(value) else value
