"""The main job on bundled logs: four rollouts of one booking, two of which flew to the wrong San José."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

from trajcredit.errors import InputError
from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.model import Span, Trajectory, body
from trajcredit.service.asking import Configured, of_spec
from trajcredit.service.ingesting import ingest_paths
from trajcredit.service.opening import DEFAULT_PROJECT, Store
from trajcredit.service.recalling import id_of
from trajcredit.service.runner import see_through
from trajcredit.service.running import Wanted, ask_for, listed
from trajcredit.service.stateless import Credit, attribute, batch, read
from trajcredit.service.versions import code_version, derived_by, edge_version

__all__ = ["LOG", "Attempt", "Demo", "Row", "Step", "bundled", "demo", "keep"]

LOG = "wrong_flight.jsonl"
FAILED = "flight-1"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rollout in brief: where it searched, and the verdict on what it booked."""

    code: str
    """The airport it searched for."""
    city: str
    """Where that is, as the search said."""
    verdict: float
    source: str
    later: timedelta
    """From the payment to the verdict."""


@dataclass(frozen=True, slots=True)
class Row:
    """One action of the failed rollout: flat credit beside credit by dependency."""

    span_index: int
    span: Span
    grpo: float
    dag: float


@dataclass(frozen=True, slots=True)
class Step:
    """A claimed data edge between two spans of the failed rollout."""

    child: int
    parent: int
    why: str


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo tells: the request, the rollouts, the actions with both credits, the edges, the rows to export."""

    log: Path
    request: str
    attempts: tuple[Attempt, ...]
    name: str
    """The id of the rollout that is looked at."""
    failed: Attempt
    """That rollout."""
    names: tuple[str, ...]
    """Of every span of the failed rollout: its tool, "result of" a tool, or its kind."""
    rows: tuple[Row, ...]
    steps: tuple[Step, ...]
    scored: tuple[Credit, ...]


def bundled(name: str) -> Path:
    """A log that comes with the package."""
    return Path(str(resources.files("trajcredit") / "data" / name))


def demo() -> Demo:
    """Read the bundled booking, score it with `grpo` and `dag`, and look at the first failed rollout."""
    log = bundled(LOG)
    rollouts = read(log)
    packed = batch(rollouts)
    grpo, dag = attribute(packed, "grpo"), attribute(packed, "dag")
    t = packed.trajectory_ids.index(FAILED)
    assert packed.graphs is not None
    graph, first = packed.graphs[t], int(packed.span_offsets[t])
    spans = graph.trajectory.spans
    actions = [i for i in range(len(spans)) if packed.action_mask[first + i]]
    return Demo(
        log=log,
        request=next(body(span) for span in spans if span.kind == "user"),
        attempts=tuple(map(_attempt, rollouts)),
        name=FAILED,
        failed=_attempt(graph.trajectory),
        names=tuple(map(_name, spans)),
        rows=tuple(
            Row(
                span_index=i,
                span=spans[i],
                grpo=float(grpo.credit[first + i]),
                dag=float(dag.credit[first + i]),
            )
            for i in actions
        ),
        steps=tuple(_data_steps(graph)),
        scored=(grpo, dag),
    )


def keep(store: Store, told: Demo) -> str:
    """Keep the log and a run of each attributor, unless they are there already; our id of the failed rollout."""
    for item in ingest_paths(store, DEFAULT_PROJECT, [str(told.log)], replace=True):
        if item.status == "rejected":
            raise InputError(f"{told.log}: {item.reason}")
    for credit in told.scored:
        made = of_spec(credit.attributor)
        if not _has_run(store, made):
            asked = ask_for(store, DEFAULT_PROJECT, made, Wanted())
            ended = see_through(store, DEFAULT_PROJECT, asked.id, lambda done, total: None)
            if ended.state != "done":
                raise InputError(f"run {ended.id} {ended.state}: {ended.error or 'somebody stopped it'}")
    return id_of(store, DEFAULT_PROJECT, told.name)


def _has_run(store: Store, made: Configured) -> bool:
    """Whether some finished run says what a new one would."""
    ours = (made.label, "done", False, code_version(), edge_version())
    return any(
        ours == (run.label, run.state, run.stale, run.code_version, derived_by(run.edge_version))
        for run in listed(store, DEFAULT_PROJECT, made.name).items
    )


def _attempt(rollout: Trajectory) -> Attempt:
    found, paid, reward = _result(rollout, "search_flights"), _result(rollout, "pay"), rollout.rewards[0]
    given = datetime.fromisoformat(reward.at or paid["paid_at"])
    return Attempt(
        code=found["flights"][0]["to"],
        city=found["flights"][0]["city"],
        verdict=reward.value,
        source=reward.source,
        later=given - datetime.fromisoformat(paid["paid_at"]),
    )


def _result(rollout: Trajectory, tool: str) -> Any:
    """What the first call of a tool gave back."""
    return json.loads(next(s.text for s in rollout.spans if s.kind == "tool_result" and s.name == tool))


def _name(span: Span) -> str:
    if span.name is None:
        return span.kind
    return f"result of {span.name}" if span.kind == "tool_result" else span.name


def _data_steps(graph: SpanGraph) -> Iterator[Step]:
    """Value and state edges heavy enough to be claims, latest first."""
    for edge, parent, child in reversed(list(graph.edges())):
        if EDGE_KINDS[graph.kind[edge]] in ("value", "state") and graph.weight[edge] >= 0.25:
            yield Step(child, parent, graph.evidence(edge).why)
