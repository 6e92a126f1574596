"""A graph for other programs: networkx, edge rows, dot, mermaid, graphml."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trajcredit.graph.evidence import EDGE_KINDS
from trajcredit.graph.spangraph import SpanGraph
from trajcredit.model import body
from trajcredit.visible import visible

if TYPE_CHECKING:
    import networkx

__all__ = ["edge_rows", "to_dot", "to_graphml", "to_mermaid", "to_networkx"]

SHAPES = {"tool_call": "box", "tool_result": "note", "user": "oval", "system": "oval"}


def edge_rows(graph: SpanGraph) -> Iterator[dict[str, Any]]:
    """One dict an edge, as `trajcredit graph` writes it: ends, kind, weight, evidence with character ranges."""
    for edge, parent, child in graph.edges():
        found = graph.evidence(edge)
        yield {
            "trajectory_id": graph.trajectory.id,
            "child": _end(graph, child),
            "parent": _end(graph, parent),
            "kind": EDGE_KINDS[graph.kind[edge]],
            "weight": float(graph.weight[edge]),
            "evidence": {
                "rule": found.rule,
                "why": found.why,
                "matches": [
                    {
                        "child": {"text": m.child_text, "start": m.child[0], "end": m.child[1]},
                        "parent": {"text": m.parent_text, "start": m.parent[0], "end": m.parent[1]},
                    }
                    for m in found.matches
                ],
            },
        }


def to_networkx(graph: SpanGraph) -> networkx.DiGraph[Any]:
    """networkx.DiGraph from parent to child: kind, turn, name, call_id on nodes; kind, weight, rule, why on edges."""
    import networkx

    g: networkx.DiGraph[Any] = networkx.DiGraph(trajectory=graph.trajectory.id)
    for i, span in enumerate(graph.trajectory.spans):
        g.add_node(i, kind=span.kind, turn=span.turn, name=span.name or "", call_id=span.call_id or "")
    for edge, parent, child in graph.edges():
        found = graph.evidence(edge)
        kind, weight = EDGE_KINDS[graph.kind[edge]], float(graph.weight[edge])
        g.add_edge(parent, child, kind=kind, weight=weight, rule=found.rule, why=found.why)
    return g


def to_graphml(graph: SpanGraph) -> str:
    """GraphML, as networkx writes it; characters that XML cannot hold are replaced."""
    import networkx

    g = to_networkx(graph)
    for data in [g.graph, *(d for _, d in g.nodes(data=True)), *(d for *_, d in g.edges(data=True))]:
        data.update({key: _xml_text(value) for key, value in data.items() if isinstance(value, str)})
    return "\n".join(networkx.generate_graphml(g)) + "\n"


def to_dot(graph: SpanGraph) -> str:
    """Graphviz: one node a span, solid data edges, dashed others, grey candidates."""
    lines = [f"digraph {_quoted(graph.trajectory.id)} {{", "  rankdir=TB;"]
    for i, span in enumerate(graph.trajectory.spans):
        lines.append(f"  {i} [shape={SHAPES.get(span.kind, 'plain')}, label={_quoted(_label(graph, i))}];")
    for edge, parent, child in graph.edges():
        kind, weight = EDGE_KINDS[graph.kind[edge]], float(graph.weight[edge])
        style = "solid" if kind in ("value", "state") else "dashed"
        color = "gray60" if weight < 0.25 else "black"
        why = _quoted(f"{kind} {weight:.2f}: {graph.evidence(edge).why}")
        lines.append(f"  {parent} -> {child} [style={style}, color={color}, label={_quoted(kind)}, tooltip={why}];")
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(graph: SpanGraph) -> str:
    """Mermaid flowchart; candidates are dotted."""
    lines = ["flowchart TD"]
    for i in range(len(graph.trajectory.spans)):
        lines.append(f'  s{i}["{_entities(_label(graph, i))}"]')
    for edge, parent, child in graph.edges():
        arrow = "-.->" if graph.weight[edge] < 0.25 else "-->"
        lines.append(f"  s{parent} {arrow}|{EDGE_KINDS[graph.kind[edge]]}| s{child}")
    return "\n".join(lines) + "\n"


def _end(graph: SpanGraph, i: int) -> dict[str, Any]:
    span = graph.trajectory.spans[i]
    return {"span_index": i, "message_index": span.message_index, "tool_call_id": span.call_id}


def _label(graph: SpanGraph, i: int, width: int = 48) -> str:
    span = graph.trajectory.spans[i]
    text = " ".join(body(span).split())
    text = text if len(text) <= width else text[: width - 1] + "…"
    return f"{i} {span.kind}{' ' + span.name if span.name else ''}: {text}"


def _xml_text(text: str) -> str:
    return "".join(c if c in "\t\n\r" or (c >= " " and c not in "\ufffe\uffff") else "\ufffd" for c in text)


def _quoted(text: str) -> str:
    return '"' + visible(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _entities(text: str) -> str:
    return "".join(c if c.isalnum() or c in " .,:-_/" else f"#{ord(c)};" for c in visible(text))
