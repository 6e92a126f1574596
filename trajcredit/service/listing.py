"""The list of trajectories: one page of it, with what a run says of each, and what its filter boxes may offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from trajcredit.errors import InputError
from trajcredit.store import (
    Store,
    filters,
    groups,
    labels,
    overridden,
    pages,
    remarks,
    run_credits,
    runs,
    suggestions,
)
from trajcredit.store.filters import Filters
from trajcredit.store.groups import Tally
from trajcredit.store.pages import Listed, Sort
from trajcredit.store.remarks import Remark
from trajcredit.store.run_credits import Extreme, Summary

__all__ = ["Filters", "ListPage", "ListRow", "Sort", "TopSpan", "listed", "suggested", "tools"]

MOST_ROWS = 200
MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class TopSpan:
    """The most blamed span of a trajectory, or the most praised where nothing is blamed."""

    span: int
    name: str
    """The tool, or the kind of span."""
    credit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRow:
    """One line of the list: no text of the log."""

    id: str
    external_id: str
    group: str
    group_id: str
    group_size: int
    group_scored: int
    group_passed: int
    """How many of those that are scored passed: an outcome of at least 0.5."""
    group_mean: float | None
    group_difference: float | None
    """Its outcome less the mean of its group; null where it is not scored by the source that the group is."""
    dataset: str | None
    task: str | None
    trial: str | None
    step: int | None
    policy_version: str | None
    model: str | None
    format: str
    outcome: float | None
    n_spans: int
    n_actions: int
    n_errors: int
    n_tokens: int | None
    n_notes: int
    n_labels: int
    n_overrides: int
    """Edges that people edited."""
    created: str
    top: TopSpan | None = None
    """Null where the run did not score it, where it says 0 of every span, or the same of several."""
    strip: tuple[float | None, ...] | None = None
    """At most 60 cells, each the credit of largest size in it, null where nothing is scored; null without a run, or
    where the run did not read the trajectory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A page of the list, and the cursor of the one after it; null on the last."""

    items: tuple[ListRow, ...]
    next: str | None
    total: int
    total_exact: bool
    scale: float | None = None
    """Largest size of a credit in the strips of this page."""
    run: str | None = None
    """Our id of the run that strips and tops are of."""


def listed(
    store: Store,
    project: str,
    filters: Filters,
    sort: Sort = "-created",
    cursor: str | None = None,
    limit: int = 100,
    run: str | None = None,
) -> ListPage:
    """The page that begins after `cursor`; `run` is our id of one, or the name of an attributor.

    However many rows, the number of queries is the same.
    """
    if not 1 <= limit <= MOST_ROWS:
        raise InputError(f"limit {limit}: a page has 1 to {MOST_ROWS} rows")
    with store.read() as conn:
        of = None if run is None else runs.find(conn, project, run).id
        page = pages.page(conn, project, filters, sort, cursor, limit)
        ids = [one.id for one in page.trajectories]
        tallies = groups.tallies(conn, project, [one.group_key for one in page.trajectories])
        noted, labelled = remarks.remarks(conn, ids), labels.counts(conn, ids)
        edited = overridden.counts(conn, ids)
        said = {} if of is None else run_credits.summaries(conn, project, of, ids)
        tops = {name: top for name, summary in said.items() if (top := _top(summary)) is not None}
        unnamed = [(name, top.span) for name, top in tops.items() if top.tool is None]
        kinds = remarks.kinds_at(conn, project, unnamed)
    return ListPage(
        items=tuple(
            _row(
                one,
                tallies[one.group_key],
                noted[one.id],
                labelled.get(one.id, 0),
                edited.get(one.id, 0),
                said.get(one.id),
                tops.get(one.id),
                kinds,
            )
            for one in page.trajectories
        ),
        next=page.next,
        total=page.total,
        total_exact=not page.more,
        scale=_scale(said),
        run=of,
    )


def suggested(store: Store, project: str, begins: str = "", most: int = MOST_NAMES) -> tuple[str, ...]:
    """Names of tools that begin so, the most frequent first."""
    if not 1 <= most <= MOST_NAMES:
        raise InputError(f"at most 1 to {MOST_NAMES} names are suggested, not {most}")
    with store.read() as conn:
        return tuple(one.name for one in suggestions.tools(conn, project, begins, most))


def tools(store: Store, project: str) -> set[str]:
    """Every tool that some trajectory of a project declares or calls; names longer than 200 characters are cut, too."""
    with store.read() as conn:
        return {*filters.tools(conn, project), *suggestions.declared(conn, project)}


def _row(
    one: Listed,
    tally: Tally,
    remark: Remark,
    n_labels: int,
    n_overrides: int,
    summary: Summary | None,
    top: Extreme | None,
    kinds: Mapping[tuple[str, int], str],
) -> ListRow:
    return ListRow(
        id=one.id,
        external_id=one.external_id,
        group=one.group_name,
        group_id=one.group_key,
        group_size=tally.size,
        group_scored=tally.scored,
        group_passed=tally.passed,
        group_mean=tally.mean,
        group_difference=_difference(one, tally),
        dataset=one.dataset,
        task=one.task,
        trial=one.trial,
        step=one.step,
        policy_version=one.policy_version,
        model=one.model,
        format=remark.format,
        outcome=one.outcome,
        n_spans=one.n_spans,
        n_actions=one.n_actions,
        n_errors=one.n_errors,
        n_tokens=one.n_tokens,
        n_notes=remark.n_notes,
        n_labels=n_labels,
        n_overrides=n_overrides,
        created=one.created,
        top=None if top is None else TopSpan(top.span, top.tool or kinds[one.id, top.span], top.credit),
        strip=None if summary is None else summary.strip,
    )


def _difference(one: Listed, tally: Tally) -> float | None:
    if one.outcome is None or tally.mean is None or one.outcome_source != tally.source:
        return None
    difference = one.outcome - tally.mean
    return difference if isfinite(difference) else None


def _top(summary: Summary) -> Extreme | None:
    low, high = summary.low, summary.high
    if low is None or high is None or (summary.n_scored > 1 and low.credit == high.credit):
        return None
    if low.credit < 0:
        return low
    return high if high.credit > 0 else None


def _scale(said: Mapping[str, Summary]) -> float | None:
    sizes = [abs(cell) for summary in said.values() for cell in summary.strip if cell is not None]
    return max(sizes, default=None)
