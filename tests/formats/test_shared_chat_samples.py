"""Real logs of providers, trainers and benchmarks: every figure was counted by hand in the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read
from trajcredit.model import Trajectory, decode, encode

DATA = Path(__file__).parents[2].parent / "shared" / "data"
LETTERS = {
    "system": "s",
    "user": "u",
    "assistant": "a",
    "reasoning": "t",
    "tool_call": "c",
    "tool_result": "r",
    "meta": "m",
}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"no sample logs at {DATA}")

# trajectories, spans by kind, results that answer a call, sum of the rewards (null: none)
SAMPLES = {
    "anthropic-messages/parallel_tool_calls.request.json": (1, "s1 u1 a1 c4 r4", 4, None),
    "anthropic-messages/parallel_tool_calls.response.json": (1, "a1", 0, None),
    "anthropic-messages/server_tool_use.request.json": (1, "s1 u1", 0, None),
    "anthropic-messages/server_tool_use.response.json": (1, "t1 c1 r1 a1", 1, None),
    "anthropic-messages/streamed.request.json": (1, "u1", 0, None),
    "anthropic-messages/streamed.response.sse": (1, "a1 c2", 0, None),
    "anthropic-messages/thinking_and_tool.request.json": (1, "u1 t1 a1 c1 r1", 1, None),
    "anthropic-messages/thinking_and_tool.response.json": (1, "a1", 0, None),
    "openai-responses/combined_call_id.request.json": (1, "u2 c1 r1", 1, None),
    "openai-responses/combined_call_id.response.json": (1, "t1 c1", 0, None),
    "openai-responses/mcp_server_tool.request.json": (1, "s1 u2 m1 t2 c1 r1 a1", 1, None),
    "openai-responses/mcp_server_tool.response.json": (1, "s1 t1 a1", 0, None),
    "openai-responses/parallel_calls_one_failed.request.json": (1, "u1 c2 r2", 2, None),
    "openai-responses/parallel_calls_one_failed.response.json": (1, "a1", 0, None),
    "openai-responses/reasoning_and_calls.request.json": (1, "s1 u1 t1 c1 r1", 1, None),
    "openai-responses/reasoning_and_calls.response.json": (1, "s1 a1", 0, None),
    "openai-chat/empty_tool_call_id.response.json": (1, "c1", 0, None),
    "openai-chat/image_after_tool.response.json": (1, "a1", 0, None),
    "openai-chat/parallel_tool_calls.response.json": (1, "a1", 0, None),
    "openai-chat/parallel_tool_calls_streamed.response.sse": (1, "c2", 0, None),
    "openai-chat/two_turn_tool_calls.response.json": (1, "a1", 0, None),
    "gemini/adk_session.json": (1, "u1 c2 r2 a4", 2, None),
    "gemini/history_from_other_model.request.json": (1, "u1 c1 r1", 1, None),
    "gemini/history_from_other_model.response.json": (1, "c1", 0, None),
    "gemini/retry.request.json": (1, "s1 u1 c2 r2", 2, None),
    "gemini/retry.response.json": (1, "a1", 0, None),
    "gemini/thought_signatures.request.json": (1, "s1 u1 c6 r6", 6, None),
    "gemini/thought_signatures.response.json": (1, "c1", 0, None),
    "sharegpt-tools/chatml.jsonl": (3, "s1 u5 a5", 0, None),
    "sharegpt-tools/conversations.jsonl": (3, "s1 u5 a5", 0, None),
    "sharegpt-tools/glaive_toolcall_en_demo.json": (300, "u746 a746 c211 r211", 211, None),
    "sharegpt-tools/reason_tool_use_demo_50.jsonl": (50, "s50 u70 t112 a59 c68 r48", 48, None),
    "toolbench/G1_answer_10_ChatGPT_DFS_woFilter_w2.json": (1, "s1 u1 c3 r3", 3, 1.0),
    "toolbench/G3_answer_21_ChatGPT_DFS_woFilter_w2.json": (1, "s1 u1 c4 r4", 4, 1.0),
    "trl-messages/ft_xml_example.jsonl": (3, "s3 u3 a99 c103 r100", 100, None),
    "who-and-when/Algorithm-Generated_1.json": (1, "s3 a4 r2", 0, 0.0),
    "who-and-when/Algorithm-Generated_10.json": (1, "s2 a7 r3", 0, 0.0),
    "who-and-when/Algorithm-Generated_108.json": (1, "s2 a9 r1", 0, 0.0),
    "who-and-when/Hand-Crafted_53.json": (1, "u1 a27", 0, 0.0),
    "who-and-when/Hand-Crafted_55.json": (1, "u1 a39", 0, 0.0),
    "who-and-when/Hand-Crafted_6.json": (1, "u1 a7", 0, 0.0),
    "agentrx/invent_new_info.json": (1, "u1 a15", 0, None),
    "verifiers/math-python_578769a7.results.jsonl": (15, "s15 u15 c30 r30 a15", 30, 14.0),
    "verifiers/mcp-env_fdac998f.results.jsonl": (3, "u3 c3 r3 a3", 3, 3.0),
}
FOLDERS = sorted({name.partition("/")[0] for name in SAMPLES})


@pytest.mark.parametrize(("name", "expected"), SAMPLES.items(), ids=SAMPLES)
def test_a_sample_has_what_was_counted_in_it(name: str, expected: tuple[int, str, int, float | None]) -> None:
    n, kinds, answered, rewards = expected
    found = [item for item in read(DATA / name) if isinstance(item, Trajectory)]
    assert all(decode(encode(t)) == t for t in found)
    counted = Counter(LETTERS[span.kind] for t in found for span in t.spans)
    assert counted == {part[0]: int(part[1:]) for part in kinds.split()}
    assert len(found) == n
    assert sum(span.result_of is not None for t in found for span in t.spans) == answered
    given = [reward.value for t in found for reward in t.rewards]
    assert (sum(given) if given else None) == rewards


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_of_a_folder_is_read_or_is_no_log(folder: str) -> None:
    found = list(read(DATA / folder))
    assert not [item for item in found if isinstance(item, ParseError) and not isinstance(item, SkippedFile)]
    ids = [item.id for item in found if isinstance(item, Trajectory)]
    assert len(set(ids)) == len(ids)


def test_every_failed_result_of_the_providers_is_marked() -> None:
    [retry] = read(DATA / "gemini/retry.request.json")
    [parallel] = read(DATA / "anthropic-messages/parallel_tool_calls.request.json")
    assert isinstance(retry, Trajectory)
    assert isinstance(parallel, Trajectory)
    assert [span.error for span in retry.spans if span.kind == "tool_result"] == [True, None]
    assert [span.error for span in parallel.spans if span.kind == "tool_result"] == [False] * 4


def test_the_culprits_of_who_and_when_are_notes_where_the_label_says() -> None:
    wanted = {"Algorithm-Generated_10.json": (5, "Validation_Expert"), "Hand-Crafted_55.json": (18, "Orchestrator")}
    for name, (place, agent) in wanted.items():
        [found] = read(DATA / "who-and-when" / name)
        assert isinstance(found, Trajectory)
        [label] = [note for note in found.report if note.code == "failure-label"]
        assert label.span is not None
        span = found.spans[label.span]
        assert (span.message_index, span.agent) == (place, agent)
