"""Cases made from public bug reports whose input is a log: what is read from it, and what it depends on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import trajcredit as tc
from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.graph import EDGE_KINDS, build_graphs
from trajcredit.model import Note, Span, SpanKind, SpawnedBy, Trajectory, encode

__all__ = ["LETTERS", "LOGS", "Case", "about"]

Case = dict[str, Any]
LETTERS: dict[str, SpanKind] = {
    "s": "system",
    "u": "user",
    "a": "assistant",
    "t": "reasoning",
    "c": "tool_call",
    "r": "tool_result",
}
OF_KIND = {kind: letter for letter, kind in LETTERS.items()}
WARNINGS = {
    "singleton group": "singleton-group",
    "unscored": "unscored",
    "no action token": "no-action",
    "no action in the log": "no-action",
    "result without a call": "orphan-result",
    "call without a result": "unanswered-call",
    "result before call": "result-before-call",
    "is not JSON": "lost-message",
    "attribute is not JSON": "broken-attribute",
    "duplicate call id": "duplicate-call-id",
    "missing parent span": "missing-parent",
    "parent cycle": "parent-cycle",
}
"""Words of a case's warning -> the code of our note."""


def about(notes: Sequence[Note], warning: dict[str, str]) -> list[Note]:
    """The notes that say what a case warns about; all of them where its words are new to us."""
    codes = {code for words, code in WARNINGS.items() if words in warning["about"]}
    return [note for note in notes if not codes or note.code in codes]


def _read(case: Case) -> list[Trajectory | ParseError]:
    lines = case.get("input_lines")
    data = "\n".join(lines) if lines else json.dumps(case["input"])
    return list(read_bytes(data.encode(), "case.json"))


def _labels(spans: Sequence[Span]) -> list[str]:
    """s1, u1, c1, c2: kind and running number of every span."""
    seen: Counter[str] = Counter()
    labels = []
    for span in spans:
        letter = OF_KIND[span.kind]
        seen[letter] += 1
        labels.append(f"{letter}{seen[letter]}")
    return labels


def _log(case: Case) -> None:
    (_edges if case["topic"] == "depends" else _parse)(case)


def _parse(case: Case) -> None:
    expect = case["expect"]
    (trajectory,) = (found for found in _read(case) if isinstance(found, Trajectory))
    wanted = next((e for e in expect["one_of"] if "counts" in e), {}) if "one_of" in expect else expect
    wanted = wanted.get("lenient", wanted)
    labels = _labels(trajectory.spans)
    kinds = Counter(span.kind for span in trajectory.spans)
    if "counts" in wanted:
        assert kinds == Counter({kind: n for kind, n in wanted["counts"].items() if n})
    assert all(kinds[kind] >= n for kind, n in wanted.get("counts_at_least", {}).items())
    assert trajectory.spans[-1].turn + 1 == wanted.get("model_turns", trajectory.spans[-1].turn + 1)
    pairs = {(labels[s.result_of], n) for s, n in zip(trajectory.spans, labels, strict=True) if s.result_of is not None}
    if "pairs" in wanted:
        assert pairs == {tuple(pair) for pair in wanted["pairs"]}
    paired = {label for pair in pairs for label in pair}
    if "unpaired_calls" in wanted:
        assert [x for x in labels if x[0] == "c" and x not in paired] == wanted["unpaired_calls"]
    if "unpaired_results" in wanted:
        assert [x for x in labels if x[0] == "r" and x not in paired] == wanted["unpaired_results"]
    assert labels == wanted.get("order", labels)
    if "usage" in wanted:
        spent: Counter[str] = Counter()
        for span in trajectory.spans:
            spent.update({key: int(n) for key, n in (span.usage or {}).items()})
        assert {key: spent[key] for key in wanted["usage"]} == wanted["usage"]
    assert [s.text for s in trajectory.spans] == wanted.get("text_order", [s.text for s in trajectory.spans])
    for warning in wanted.get("warn", []):
        notes = about(trajectory.report, warning)
        at = {None if note.span is None else labels[note.span] for note in notes}
        assert at, (warning, trajectory.report)
        assert warning.get("span") in {None, *at}, (warning, trajectory.report)
    for label, fields in wanted.get("spans", {}).items():
        _same_fields(trajectory.spans[labels.index(label)], fields)
    assert encode(trajectory).decode("utf-8")
    if "strict" in expect:
        _refused(case, expect["strict"]["error"]["mentions"])


def _agents(case: Case) -> None:
    """Events of several agents: which spans are whose, by the span each worked in."""
    found = [t for t in _read(case) if isinstance(t, Trajectory)]
    names = {span["id"]: span["name"] for span in case["input"]["events"] if span["event"] == "span_begin"}
    spans = [span for t in found for span in t.spans]
    labels = iter(_labels(spans))
    owned = [(t, next(labels)) for t in found for _ in t.spans]
    for span_id, members in case["expect"]["members"].items():
        assert [label for t, label in owned if t.role == names[span_id]] == members
    at = [label for _, label in owned]
    first = {t.id: sum(len(other.spans) for other in found[:place]) for place, t in enumerate(found)}
    pairs = [
        [at[first[t.id] + s.result_of], at[first[t.id] + place]]
        for t in found
        for place, s in enumerate(t.spans)
        if s.result_of is not None
    ]
    assert pairs == case["expect"]["pairs"]


def _files(case: Case) -> None:
    """Files in a folder: the main run, and the runs of agents that its calls started."""
    with TemporaryDirectory() as folder:
        for name, lines in case["input"]["files"].items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines), encoding="utf-8")
        found = list(tc.read(folder))
    expect = case["expect"]
    mains = [t for t in found if t.parent is None]
    assert len(mains) == expect["trajectories"]
    labels = _labels(mains[0].spans)
    _same_run(mains[0], expect["main"])
    for wanted in expect["sub_agents"]:
        call = labels.index(wanted["parent_call"])
        [agent] = [t for t in found if t.parent == SpawnedBy(mains[0].id, call)]
        kinds = Counter(span.kind for span in agent.spans)
        assert {kind: kinds[kind] for kind in wanted["counts"]} == wanted["counts"]


def _same_run(trajectory: Trajectory, wanted: dict[str, Any]) -> None:
    labels = _labels(trajectory.spans)
    assert Counter(span.kind for span in trajectory.spans) == Counter(wanted["counts"])
    pairs = [[labels[s.result_of], n] for s, n in zip(trajectory.spans, labels, strict=True) if s.result_of is not None]
    assert pairs == wanted["pairs"]


def _spans(case: Case) -> None:
    """Spans as a program exports them, and in OTLP's envelope; whether once or twice makes no difference."""
    spans = case["input"]["spans"]
    for form in (spans, {"spans": spans}, _otlp(spans), [*spans, *spans]):
        _parse(case | {"input": form})


def _otlp(spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    wire = [
        {
            "traceId": span["trace_id"],
            "spanId": span["span_id"],
            "parentSpanId": span["parent_span_id"],
            "name": span["name"],
            "startTimeUnixNano": str(span["start_time_unix_nano"]),
            "endTimeUnixNano": str(span["end_time_unix_nano"]),
            "status": {"code": {"OK": 1, "ERROR": 2}[span["status"]]},
            "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in span["attributes"].items()],
        }
        for span in spans
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": wire}]}]}


def _same_fields(span: Span, fields: dict[str, Any]) -> None:
    for key, value in fields.items():
        if key == "text_starts_with":
            assert span.text.startswith(value)
        else:
            assert getattr(span, key) == value


def _refused(case: Case, mentions: Sequence[str]) -> None:
    with pytest.raises(ParseError) as refusal:
        list(read_bytes("\n".join(case["input_lines"]).encode(), "case.json", strict=True))
    assert all(word in str(refusal.value) for word in mentions)


def _edges(case: Case) -> None:
    (trajectory,) = _read(case)
    assert isinstance(trajectory, Trajectory)
    (graph,) = build_graphs([trajectory])
    labels = _labels(trajectory.spans)
    data = {
        (labels[parent], labels[child])
        for e, parent, child in graph.edges()
        if EDGE_KINDS[graph.kind[e]] in ("value", "state") and graph.weight[e] >= 0.25
    }
    expect = case["expect"]
    must = {(edge["from"], edge["to"]) for edge in expect["edges_must"]}
    assert must <= data
    assert not {tuple(edge) for edge in expect["edges_must_not"]} & data
    if expect.get("closed"):
        allowed = must | {tuple(edge) for edge in expect["edges_may"]}
        assert {edge for edge in data if edge[0].startswith("r")} <= allowed
    if expect.get("acyclic"):
        assert all(parent < child for _, parent, child in graph.edges())


LOGS: dict[str, Callable[[Case], None]] = {
    "openai_messages": _log,
    "openai_messages_jsonl": _log,
    "openai_stream_chunks": _log,
    "anthropic_messages": _log,
    "claude_code_jsonl": _log,
    "claude_code_files": _files,
    "atif": _log,
    "inspect_events": _agents,
    "openhands_events": _log,
    "otel_genai": _spans,
    "openinference": _spans,
}
"""Case format -> what runs it."""
