"""Real logs, where the folder that holds them lies beside the repository."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read
from trajcredit.model import Trajectory

SHARED = Path(__file__).parents[2].parent / "shared"
COUNTS = SHARED / "data" / "counts.json"
FOLDERS = ("openai-chat/", "tau-bench/")

pytestmark = pytest.mark.skipif(not COUNTS.exists(), reason=f"no sample logs at {SHARED}")


WITH_ANSWERS = {
    "openai-chat/openhands_litellm_claude-sonnet-4.json": {"messages": 13, "tool_calls": 6, "tool_results": 5},
    "openai-chat/openhands_nonfncall_deepseek.json": {"messages": 9, "tool_calls": 4, "tool_results": 3},
}
"""Counted by hand: the script looks at `messages` alone, these logs hold the answer too, and `raw_messages`."""


def counted() -> dict[str, dict[str, float]]:
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    return {name: WITH_ANSWERS.get(name, entry) for name, entry in counts.items() if name.startswith(FOLDERS)}


def trajectories(found: list[Trajectory | ParseError]) -> list[Trajectory]:
    return [item for item in found if isinstance(item, Trajectory)]


@pytest.mark.parametrize(("name", "expected"), counted().items(), ids=counted())
def test_a_sample_has_what_a_separate_script_counted_in_it(name: str, expected: dict[str, float]) -> None:
    found = list(read(SHARED / "data" / name))
    read_ones = trajectories(found)
    assert len(read_ones) == len(found)
    kinds = Counter(span.kind for t in read_ones for span in t.spans)
    calls = [[s.call_id for s in t.spans if s.kind == "tool_call"] for t in read_ones]
    got = {
        "runs": len(read_ones),
        "groups": len({(t.dataset, t.task) for t in read_ones}),
        "reward_sum": sum(reward.value for t in read_ones for reward in t.rewards),
        "messages": sum(len({s.message_index for s in t.spans if s.message_index is not None}) for t in read_ones),
        "tool_calls": kinds["tool_call"],
        "tool_results": kinds["tool_result"],
        "runs_with_reused_call_id": sum(len(set(ids)) < len(ids) for ids in calls),
    }
    assert {key: got[key] for key in expected} == expected
    answered = [s.result_of for t in read_ones for s in t.spans if s.kind == "tool_result"]
    assert None not in answered


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_of_a_folder_is_read_or_named(folder: str) -> None:
    files = [path for path in (SHARED / "data" / folder).rglob("*") if path.is_file()]
    found = list(read(SHARED / "data" / folder))
    errors = [item for item in found if isinstance(item, ParseError)]
    named = {Path(error.file).name for error in errors}
    read_ones = {t.source.file for t in trajectories(found) if t.source is not None}
    assert named | read_ones == {path.name for path in files}
    assert not named & read_ones
    assert all("no known format" in error.reason or isinstance(error, SkippedFile) for error in errors)
