"""The main job on bundled logs: four rollouts of one booking, two of which flew to the wrong San José."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from trajcredit.graph import EDGE_KINDS, SpanGraph
from trajcredit.model import Span, body
from trajcredit.service.stateless import Credit, attribute, batch, read

__all__ = ["Demo", "Row", "Step", "bundled", "demo"]

LOG = "wrong_flight.jsonl"
FAILED = "flight-1"


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
    """What the demo tells: the request, the outcomes, the actions with both credits, the edges, the rows to export."""

    log: Path
    request: str
    outcomes: tuple[float, ...]
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
    packed = batch(read(log))
    grpo, dag = attribute(packed, "grpo"), attribute(packed, "dag")
    t = packed.trajectory_ids.index(FAILED)
    assert packed.graphs is not None
    graph, first = packed.graphs[t], int(packed.span_offsets[t])
    spans = graph.trajectory.spans
    actions = [i for i in range(len(spans)) if packed.action_mask[first + i]]
    return Demo(
        log=log,
        request=next(body(span) for span in spans if span.kind == "user"),
        outcomes=tuple(packed.outcome.tolist()),
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


def _name(span: Span) -> str:
    if span.name is None:
        return span.kind
    return f"result of {span.name}" if span.kind == "tool_result" else span.name


def _data_steps(graph: SpanGraph) -> Iterator[Step]:
    """Value and state edges heavy enough to be claims, latest first."""
    for edge, parent, child in reversed(list(graph.edges())):
        if EDGE_KINDS[graph.kind[edge]] in ("value", "state") and graph.weight[edge] >= 0.25:
            yield Step(child, parent, graph.evidence(edge).why)
