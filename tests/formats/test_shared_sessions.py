"""Real session logs, where the folder that holds them lies beside the repository; the figures were checked by hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read, read_bytes
from trajcredit.model import Trajectory, encode

SHARED = Path(__file__).parents[2].parent / "shared"
DATA = SHARED / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no sample logs at {SHARED}")

CLAUDE = "claude-code/8463c716-a2ea-4c14-9efa-87158ebd9f20"
STREAM, ATIF, CODEX = "claude-code-stream-json", "atif", "codex/rollout-2026-02-23T"
HAND_COUNTED: dict[str, dict[str, int]] = {
    # 33 blocks of calls with 31 ids; 6 of them on the branch that was taken back, 2 logged twice
    "claude-code/6f2580aa-3095-45b7-8d4e-dd8cac7eeffe.jsonl.gz": {"tool_call": 25, "tool_result": 25, "errors": 0},
    f"{CLAUDE}.jsonl.gz": {"tool_call": 177, "tool_result": 177, "errors": 13, "reasoning": 19, "turns": 143},
    f"{CLAUDE}__subagents__agent-a7be2f0.jsonl": {"tool_call": 19, "tool_result": 19, "errors": 2, "turns": 13},
    f"{CLAUDE}__subagents__agent-acompact-f46190.jsonl": {"tool_call": 0, "assistant": 1, "turns": 1},
    "claude-code/agent-a6b700c.jsonl": {"tool_call": 7, "tool_result": 7, "turns": 3},
    "claude-code/compaction_session.jsonl": {"user": 2, "assistant": 2, "meta": 2, "turns": 2},
    "claude-code/short.jsonl": {"tool_call": 2, "tool_result": 2, "errors": 2, "reasoning": 1, "turns": 1},
    "claude-code/subagent.jsonl": {"tool_call": 16, "tool_result": 16, "reasoning": 4, "turns": 12},
    "claude-code/tool_heavy.jsonl": {"tool_call": 6, "tool_result": 6, "reasoning": 1, "turns": 4},
    # the first call is printed twice in each; the last call of two of them was never answered
    f"{STREAM}/adaptive-rejection-sampler__8swhKXC.stream.jsonl": {
        "tool_call": 22,
        "tool_result": 21,
        "errors": 2,
        "reasoning": 16,
        "turns": 21,
        "output_tokens": 6020,
    },
    f"{STREAM}/prove-plus-comm__YDACMLN.stream.jsonl": {
        "tool_call": 12,
        "tool_result": 11,
        "errors": 7,
        "reasoning": 8,
    },
    f"{STREAM}/regex-log__XYfBZFy.stream.jsonl": {"tool_call": 1, "tool_result": 1, "reasoning": 2, "assistant": 2},
    # the same runs: steps that repeat the reasoning are joined
    f"{ATIF}/adaptive-rejection-sampler__8swhKXC__trajectory.json": {
        "tool_call": 22,
        "tool_result": 21,
        "errors": 2,
        "reasoning": 16,
        "output_tokens": 6020,
        "reward": 0,
    },
    f"{ATIF}/prove-plus-comm__YDACMLN__trajectory.json": {"tool_call": 12, "tool_result": 11, "errors": 7, "reward": 1},
    f"{ATIF}/regex-log__XYfBZFy__trajectory.json": {"tool_call": 1, "tool_result": 1, "reasoning": 2, "reward": 0},
    f"{ATIF}/openhands_hello-world.trajectory.json": {"tool_call": 2, "tool_result": 1, "turns": 2},
    # both calls are written as text
    f"{ATIF}/openhands_hello-world.trajectory.no_function_calling.json": {
        "tool_call": 2,
        "tool_result": 1,
        "assistant": 0,
    },
    f"{ATIF}/terminus_2_hello-world-context-summarization-linear-history.trajectory.json": {
        "assistant": 7,
        "tool_call": 5,
        "tool_result": 7,
        "edges": 2,
        "meta": 2,
        "user": 3,
    },
    f"{CODEX}12-41-04-019c8a4d-8f45-7010-8b5d-7fad920aa6f9.jsonl": {
        "tool_call": 118,
        "tool_result": 118,
        "reasoning": 26,
        "assistant": 17,
        "user": 1,
        "system": 7,
        "turns": 28,
    },
    f"{CODEX}13-19-38-019c8a70-dda7-7f33-98ea-f30553347322.jsonl": {
        "tool_call": 1,
        "tool_result": 0,
        "user": 1,
        "system": 8,
    },
    f"{CODEX}20-34-25-019c8bfe-ec25-79e0-97d7-bda6a9c575ff.jsonl": {"tool_call": 5, "tool_result": 5, "reasoning": 6},
    "codex/codex_session_rollout.json": {"tool_call": 2, "tool_result": 1},
    "codex/codex_exec_json.json": {"tool_call": 1, "tool_result": 1, "assistant": 2},
    "codex/function_calls.jsonl": {"tool_call": 2, "tool_result": 0, "user": 1},
    "tau2-bench/airline_relaxed_grok-4-fast.json": {"tool_call": 33, "tool_result": 33, "messages": 104, "reward": 3},
    "inspect/2025-05-12T20-27-36-04-00_browser.json": {"tool_call": 4, "tool_result": 4, "messages": 10, "reward": 1},
    "inspect/2025-05-12T20-28-26-04-00_security-guide.json": {"messages": 9, "assistant": 3, "reward": 3},
    "inspect/log_formats.eval": {"messages": 3, "reward": 0},
    "inspect/log_formats.json": {"messages": 3, "reward": 0},
    "inspect/log_images.json": {"messages": 3, "reward": 0},
    "inspect/log_message_deduplication.eval": {"tool_call": 5, "tool_result": 5, "messages": 12, "turns": 6},
    "inspect/log_tool_call_error.json": {"tool_call": 0, "tool_result": 11, "errors": 11, "messages": 11},
    "openhands-v0/basic.json": {"tool_call": 2, "tool_result": 1, "user": 1},
    "openhands-v0/wrong_initial_state.json": {"tool_call": 4, "tool_result": 3, "turns": 4},
    "openhands-v0/resolver_output.jsonl": {"tool_call": 26, "tool_result": 24, "user": 2, "reward": 2},
    "openhands-v1/events.jsonl": {"tool_call": 2, "tool_result": 3, "errors": 2, "reasoning": 2},
    "swe-agent/function_calling_simple.traj": {"tool_call": 5, "tool_result": 5, "messages": 12},
    "swe-agent/marshmallow-1867.function_calling_replace.traj": {"tool_call": 11, "tool_result": 11, "messages": 24},
    "swe-agent/marshmallow-1867.xml_window100.traj": {"tool_call": 11, "tool_result": 11, "messages": 23},
    "swe-agent/networking_1.traj": {"tool_call": 4, "tool_result": 4, "messages": 9},
    "swe-agent/pandas.pr_53856.traj.gz": {"tool_call": 17, "tool_result": 17, "messages": 36},
    "swe-agent/pydicom__pydicom-1458.traj": {"tool_call": 12, "tool_result": 12, "messages": 26, "system": 2},
    "mini-swe-agent/github_issue.traj.json": {"tool_call": 10, "tool_result": 10, "messages": 22, "errors": 2},
    "mini-swe-agent/two_parallel_calls.v1.1.traj.json": {"tool_call": 3, "tool_result": 2, "messages": 7, "errors": 1},
    "terminal-bench/claude_code_c4__blind-maze-explorer-algorithm.easy__results.json": {
        "tool_call": 17,
        "tool_result": 16,
        "user": 1,
        "reward": 0,
    },
}
FOLDERS = sorted({name.partition("/")[0] for name in HAND_COUNTED})


def figures(read_ones: list[Trajectory]) -> Counter[str]:
    got: Counter[str] = Counter()
    for t in read_ones:
        got.update(Counter[str](span.kind for span in t.spans))
        told = sum(note.code == "error-in-text" for note in t.report)  # the rest the log flags
        got["errors"] += sum(span.error is True for span in t.spans) - told
        got["turns"] += max((span.turn for span in t.spans), default=-1) + 1
        got["messages"] += len({span.message_index for span in t.spans if span.message_index is not None})
        got["output_tokens"] += sum(int((span.usage or {}).get("output_tokens", 0)) for span in t.spans)
        got["reward"] += int(sum(reward.value for reward in t.rewards))
        got["edges"] += len(t.edges)
    return got


@pytest.mark.parametrize("name", HAND_COUNTED)
def test_a_session_has_what_was_counted_in_it(name: str) -> None:
    found = list(read(DATA / name))
    read_ones = [item for item in found if isinstance(item, Trajectory)]
    assert len(read_ones) == len(found)
    got = figures(read_ones)
    assert {key: got[key] for key in HAND_COUNTED[name]} == HAND_COUNTED[name]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_of_a_folder_is_read_or_passed_over_with_its_reason(folder: str) -> None:
    found = list(read(DATA / folder))
    assert not [item for item in found if isinstance(item, ParseError) and not isinstance(item, SkippedFile)]
    named = {Path(item.file).name for item in found if isinstance(item, SkippedFile)}
    read_ones = {t.source.file for t in found if isinstance(t, Trajectory) and t.source is not None}
    assert named | read_ones == {path.name for path in (DATA / folder).iterdir()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_read_comes_back_equal_from_its_canonical_lines(folder: str) -> None:
    read_ones = [item for item in read(DATA / folder) if isinstance(item, Trajectory)]
    again = list(read_bytes(b"\n".join(map(encode, read_ones)), "again.jsonl"))
    assert again == read_ones


def test_a_compacted_session_names_the_calls_that_started_its_agents() -> None:
    parents = {t.id.rpartition("/")[2]: t.parent for t in read(DATA / "claude-code") if isinstance(t, Trajectory)}
    started = parents["agent-a7be2f0"]
    assert started is not None
    assert started.span is not None
    main = next(t for t in read(DATA / f"{CLAUDE}.jsonl.gz") if isinstance(t, Trajectory))
    call: dict[str, Any] = json.loads(encode(main))["spans"][started.span]
    assert (call["kind"], call["name"]) == ("tool_call", "Task")
