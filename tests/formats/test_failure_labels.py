"""Labels in the form of AgentRx that lie beside logs: notes at the messages they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trajcredit.errors import SkippedFile
from trajcredit.formats import read
from trajcredit.model import Trajectory

CHAT = [
    {"role": "human", "content": "Find it."},
    {"role": "Orchestrator (thought)", "content": "Ask the surfer."},
    {"role": "WebSurfer", "content": "I clicked."},
]
RUN = {
    "task_id": 7,
    "reward": 0.0,
    "trial": 7,
    "traj": [
        {"role": "user", "content": "Cancel it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
        {"role": "assistant", "content": "Done."},
    ],
}


def failure(step: Any, number: int = 1, agent: str = "Assistant") -> dict[str, Any]:
    return {
        "failure_id": number,
        "step_number": step,
        "failure_category": "Invention",
        "failed_agent": agent,
        "step_reason": "it was not there",
    }


def found(folder: Path, logs: dict[str, Any]) -> dict[str, list[tuple[str, int | None, str]]]:
    """Notes on labels by trajectory, after these files were written to the folder and read."""
    for name, value in logs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    items = list(read(folder))
    assert all(isinstance(item, Trajectory | SkippedFile) for item in items), items
    return {
        item.id: [(note.code, note.span, note.message) for note in item.report if "label" in note.code]
        for item in items
        if isinstance(item, Trajectory)
    }


@pytest.mark.parametrize(
    ("labels", "log"),
    [
        pytest.param("ground_truth/tau_ground_truth.json", "tau_dataset/7.json", id="in the folder beside"),
        pytest.param("tau_ground_truth.json", "7.json", id="in the same folder"),
    ],
)
def test_labels_become_notes_at_their_messages(tmp_path: Path, labels: str, log: str) -> None:
    entry = {"trajectory_id": 7, "failures": [failure(2), failure(4, 2)], "root_cause": {"failure_id": 2}}
    [notes] = found(tmp_path, {labels: [entry], log: RUN}).values()
    assert notes == [
        ("failure-label", 1, "Assistant failed at step 2: Invention: it was not there"),
        ("failure-label", 3, "the root cause: Assistant failed at step 4: Invention: it was not there"),
    ]


def test_group_chats_have_labels_too(tmp_path: Path) -> None:
    entry = {"trajectory_id": "find", "failures": [failure(3, agent="WebSurfer")], "root_cause": None}
    assert found(tmp_path, {"ground_truth.json": [entry], "find.json": CHAT}) == {
        "find.json": [("failure-label", 2, "WebSurfer failed at step 3: Invention: it was not there")]
    }


@pytest.mark.parametrize("step", [0, 5, "x", None, "9" * 30])
def test_a_step_that_is_not_there_is_said(tmp_path: Path, step: Any) -> None:
    entry = {"trajectory_id": 7, "failures": [failure(step)], "root_cause": {}}
    [notes] = found(tmp_path, {"ground_truth.json": [entry], "7.json": RUN}).values()
    assert [(code, span) for code, span, _ in notes] == [("label-mismatch", None)]


def test_only_the_log_of_that_name_is_labelled(tmp_path: Path) -> None:
    entry = {"trajectory_id": 7, "failures": [failure(2)], "root_cause": {}}
    two = "\n".join([json.dumps(RUN), json.dumps(RUN | {"trial": 8})])
    logs = {"ground_truth.json": [entry], "run.json": RUN | {"trial": 9}, "7.jsonl": two}
    assert not any(found(tmp_path, logs).values()), "another name; two runs under one name"


def test_damaged_labels_cost_no_log(tmp_path: Path) -> None:
    (tmp_path / "7.json").write_text(json.dumps(RUN))
    (tmp_path / "a_ground_truth.json").write_text('[{"trajectory_id": 7, "failures": 1')
    [one] = [item for item in read(tmp_path / "7.json") if isinstance(item, Trajectory)]
    assert not [note for note in one.report if "label" in note.code]
