"""Real span exports, where the folder that holds them lies beside the repository; the counts were made by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trajcredit.formats import read
from trajcredit.model import Trajectory, decode, encode

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no sample logs at {DATA}")

SAMPLES = {
    # trajectories, policy invocations, calls, results, results that failed, rewards
    "otel-genai/adk_live_spans.json": (1, 2, 1, 1, 0, 0),
    "otel-genai/openai_agents_genai_live_spans.json": (3, 8, 5, 5, 0, 0),
    "otel-genai/pydantic_ai_live_spans.json": (1, 2, 1, 1, 0, 0),
    "openinference/claude_live_spans.json": (4, 6, 6, 6, 0, 0),
    "openinference/openai_agents_openinference_live_spans.json": (2, 5, 4, 4, 0, 0),
    "openinference/openinference_live_spans.json": (1, 2, 2, 1, 0, 0),
    "otlp-json/genai_messages_form.traces.otlp.json": (1, 2, 2, 2, 0, 0),
    "otlp-json/genai_messages_form.traces.otlp.pb": (1, 2, 2, 2, 0, 0),
    "otlp-json/genai_events_form.traces.otlp.json": (1, 2, 2, 2, 0, 0),
    "otlp-json/genai_events_form.traces.otlp.pb": (1, 2, 2, 2, 0, 0),
    "otlp-json/genai_events_form.traces.base64ids.json": (1, 2, 2, 2, 0, 0),
    "otlp-json/openinference.traces.otlp.json": (1, 2, 2, 2, 0, 0),
    "otlp-json/openinference.traces.otlp.pb": (1, 2, 2, 2, 0, 0),
    "langfuse/claude-agent-2025-12-22.trace.json": (1, 4, 2, 2, 0, 3),
    "langfuse/crewai-2025-07-11.trace.json": (1, 1, 0, 0, 0, 2),
    "langfuse/google-adk-2025-08-28.trace.json": (1, 2, 1, 1, 0, 2),
    "langfuse/langgraph-js-2025-10-30.trace.json": (1, 2, 1, 1, 0, 2),
    "langfuse/langgraph-python-2025-08-22.trace.json": (1, 2, 1, 1, 0, 2),
    "langfuse/openai-agents-2025-09-30.trace.json": (1, 2, 1, 1, 0, 2),
    "langfuse/pydantic-ai-tools-2025-12-04.trace.json": (2, 4, 4, 3, 0, 0),
    "langfuse/vercel-aisdk-2025-11-17.trace.json": (1, 1, 1, 1, 0, 2),
    "langsmith/langsmith_js_wrap_openai_default.json": (1, 1, 0, 0, 0, 0),
    "langsmith/langsmith_py_wrap_openai_reasoning.json": (1, 1, 0, 0, 0, 0),
    "langsmith/langsmith_py_wrap_openai_stream.json": (1, 1, 0, 0, 0, 0),
    "langsmith/runs_export.jsonl": (1, 2, 2, 2, 1, 0),
}


@pytest.mark.parametrize(("name", "wanted"), SAMPLES.items(), ids=SAMPLES)
def test_a_sample_has_what_was_counted_in_it_by_hand(name: str, wanted: tuple[int, ...]) -> None:
    found = list(read(DATA / name))
    trajectories = [item for item in found if isinstance(item, Trajectory)]
    assert len(trajectories) == len(found)
    kinds = Counter(span.kind for t in trajectories for span in t.spans)
    spans = [span for t in trajectories for span in t.spans]
    assert (
        len(trajectories),
        sum(t.spans[-1].turn + 1 for t in trajectories),
        kinds["tool_call"],
        kinds["tool_result"],
        sum(span.error is True for span in spans),
        sum(len(t.rewards) for t in trajectories),
    ) == wanted
    assert all(span.result_of is not None for span in spans if span.kind == "tool_result")
    assert all(decode(encode(t)) == t for t in trajectories)


def test_log_records_beside_their_spans_are_read_with_them() -> None:
    [joined] = read(DATA / "otlp-json/genai_events_form.traces.otlp.json")
    [plain] = read(DATA / "otlp-json/genai_messages_form.traces.otlp.json")
    assert isinstance(joined, Trajectory)
    assert isinstance(plain, Trajectory)
    assert [(s.kind, s.text, s.name, s.turn) for s in joined.spans] == [
        (s.kind, s.text, s.name, s.turn) for s in plain.spans
    ]


def test_sub_agents_of_the_samples_name_the_call_they_came_from() -> None:
    for name in SAMPLES:
        found = {t.id: t for t in read(DATA / name) if isinstance(t, Trajectory)}
        for sub in found.values():
            if sub.parent is not None:
                assert sub.parent.span is not None
                assert found[sub.parent.trajectory].spans[sub.parent.span].kind == "tool_call"
