"""Traces whose spans lie in several files that are read together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.spans import agent, answer, call, chat, kinds, result, said, tool
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read, siblings
from trajcredit.formats.siblings import Siblings
from trajcredit.model import Trajectory

ASK, CALL, RESULT = said("user", "go"), call(("c1", "look", {"at": "x"})), result("c1", "found")
TRACE = [
    agent("s1", None, 0, "a"),
    chat("s2", "s1", 1, [ASK], CALL),
    tool("s3", "s1", 2, "look", "c1", result="found"),
    chat("s4", "s1", 3, [ASK, CALL, RESULT], answer("Done.")),
]
WHOLE = [("user", "go"), ("tool_call", "look"), ("tool_result", "found"), ("assistant", "Done.")]


def of(trace: str, spans: list[Any]) -> list[Any]:
    return [{**span, "trace_id": trace} for span in spans]


def wrote(folder: Path, **files: list[Any]) -> Path:
    for name, spans in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(span) + "\n" for span in spans))
    return folder


def told(*paths: Path) -> tuple[dict[str, Any], list[str]]:
    """The spans of each trajectory by its id, and what was skipped; nothing may fail."""
    items = list(read(list(paths)))
    errors = [item for item in items if isinstance(item, ParseError)]
    assert all(isinstance(error, SkippedFile) for error in errors), errors
    found = {t.id: kinds(t) for t in items if isinstance(t, Trajectory)}
    return found, [f"{Path(error.file).name}: {error.reason}" for error in errors]


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_trace_in_two_files_is_one_trajectory(tmp_path: Path, cut: int) -> None:
    wrote(tmp_path, one=TRACE[:cut], two=TRACE[cut:])
    assert told(tmp_path) == ({"t1": WHOLE}, ["two.jsonl: 1 trace of it began in one.jsonl: read with that"])
    [whole] = [item for item in read(tmp_path) if isinstance(item, Trajectory)]
    assert [(note.code, note.message) for note in whole.report] == [
        ("joined-files", "spans of its traces lie in two.jsonl too: read together")
    ]


def test_what_else_is_in_the_files_is_read_where_it_is(tmp_path: Path) -> None:
    wrote(tmp_path, one=[*TRACE[:2], *of("t2", TRACE)], two=[*of("t3", TRACE), *TRACE[2:]], three=of("t4", TRACE))
    found, skipped = told(tmp_path)
    assert found == dict.fromkeys(("t1", "t2", "t3", "t4"), WHOLE)
    assert skipped == ["two.jsonl: 1 trace of it began in one.jsonl: read with that"]


def test_spans_that_were_exported_twice_count_once(tmp_path: Path) -> None:
    wrote(tmp_path, one=TRACE[:3], two=TRACE[1:])
    assert told(tmp_path)[0] == {"t1": WHOLE}


def test_files_that_are_named_one_by_one_are_read_together(tmp_path: Path) -> None:
    wrote(tmp_path, one=TRACE[:2], two=TRACE[2:])
    assert told(tmp_path / "two.jsonl", tmp_path / "one.jsonl")[0] == {"t1": WHOLE}


def test_a_file_by_itself_is_all_there_is(tmp_path: Path) -> None:
    wrote(tmp_path, one=TRACE[:2], two=TRACE[2:])
    found, skipped = told(tmp_path / "two.jsonl")
    assert (found["t1"][-1], skipped) == (("assistant", "Done."), [])


def test_folders_do_not_look_into_each_other(tmp_path: Path) -> None:
    for name, spans in (("a", TRACE[:2]), ("b", TRACE[2:])):
        (tmp_path / name).mkdir()
        wrote(tmp_path / name, log=spans)
    assert sorted(told(tmp_path)[0]) == ["t1", "t1#2"]


def test_a_link_to_a_trace_is_no_span_of_it(tmp_path: Path) -> None:
    linked = [{**span, "links": [{"trace_id": "t1", "span_id": "s1"}]} for span in of("t0", TRACE)]
    wrote(tmp_path, a=linked, b=TRACE)
    assert told(tmp_path) == ({"t0": WHOLE, "t1": WHOLE}, [])


def test_another_format_that_names_the_trace_takes_nothing(tmp_path: Path) -> None:
    chats = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}], "trace_id": "t1"}
    (tmp_path / "a.json").write_text(json.dumps(chats))
    wrote(tmp_path, b=TRACE)
    assert told(tmp_path)[0]["t1"] == WHOLE


def test_a_file_that_cannot_be_looked_through_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrote(tmp_path, one=TRACE[:2], two=[*TRACE[2:], *of("t2", TRACE * 9)])
    monkeypatch.setattr(siblings, "LARGEST", 5_000)
    first, second, _ = read(tmp_path)
    assert isinstance(first, Trajectory)
    assert isinstance(second, Trajectory)
    assert [note.message for note in first.report if note.code == "companion-missing"] == [
        "not looked at for more spans, damaged or too large: two.jsonl"
    ]
    assert (first.id, second.id) == ("t1", "t1#2")


def test_every_file_is_looked_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrote(tmp_path, **{f"f{n}": of(f"t{n}", TRACE) for n in range(12)})
    looked: list[str] = []
    inner = Siblings.read

    def counted(self: Siblings, name: str) -> bytes | None:
        found = inner(self, name)
        looked.extend([name] if found is not None else [])
        return found

    monkeypatch.setattr(Siblings, "read", counted)
    found, skipped = told(tmp_path)
    assert (len(found), skipped) == (12, [])
    assert sorted(looked) == sorted(f"f{n}.jsonl" for n in range(12))
