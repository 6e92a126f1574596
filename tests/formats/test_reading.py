"""Files to trajectories: which reader a log gets, how ids stay apart, what goes into the report."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard

from trajcredit.errors import ParseError, UnknownNameError
from trajcredit.formats import Document, Match, Reader, read, read_bytes
from trajcredit.model import Span, Trajectory
from trajcredit.registry import formats

ROW = b'{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]}'
TAU = b'{"task_id": 1, "trial": 0, "reward": 1.0, "traj": [{"role": "assistant", "content": "done"}]}'


def said(found: Iterator[Trajectory | ParseError]) -> list[str]:
    return [item.id if isinstance(item, Trajectory) else f"! {item}" for item in found]


@pytest.mark.parametrize(
    ("data", "format"),
    [
        pytest.param(ROW, "openai_chat", id="messages are chat, the fallback"),
        pytest.param(TAU, "tau_bench", id="task, reward and traj are tau-bench"),
        pytest.param(
            TAU[:-1] + b', "messages": []}', "tau_bench", id="a reader that knows more keys outdoes the fallback"
        ),
        pytest.param(b'{"schema": "trajcredit.trajectory/1", "id": "x", "spans": []}', "trajcredit", id="a schema"),
    ],
)
def test_the_reader_is_chosen_by_structure(data: bytes, format: str) -> None:
    [trajectory] = read_bytes(data, "any.name")
    assert isinstance(trajectory, Trajectory)
    assert format == "trajcredit" or (trajectory.source is not None and trajectory.source.format == format)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "no known format: the file is empty", id="empty"),
        pytest.param(b" \n", "no known format: the file is empty", id="blank"),
        pytest.param(b"[]", "no known format: it holds no JSON objects", id="an empty array"),
        pytest.param(b"# Notes\n", "no known format: it holds no JSON objects", id="prose"),
        pytest.param(b'{"b": 1, "a": 2}', "no known format: its objects have the keys a, b", id="other keys"),
        pytest.param(b"[1, 2]", "no known format: record 1: Expected `object`, got `int`", id="no objects"),
        pytest.param(ROW[:-1], "no known format: not JSON: Input data was truncated", id="cut off"),
        pytest.param(
            b'{"messages": [], "reward": NaN}',
            "no known format: NaN is not a finite number - at `$.reward`",
            id="NaN in the only record",
        ),
        pytest.param(b'{"a": ' * 3000, "no known format: nested deeper than 100 levels", id="an endless nest"),
    ],
)
def test_a_log_of_no_known_format_says_what_was_found(data: bytes, reason: str) -> None:
    assert said(read_bytes(data, "a.log")) == [f"! a.log: {reason}"]


def test_a_format_may_be_named_and_then_nothing_is_sniffed() -> None:
    assert said(read_bytes(TAU, "a.json", format="openai_chat")) == ["! a.json: Object missing required field `role`"]
    assert said(read_bytes(b"[]", "a.json", format="tau_bench")) == ["! a.json: nothing in it can be read as tau_bench"]
    with pytest.raises(UnknownNameError, match="no format named 'nope'; known: openai_chat, tau_bench, trajcredit"):
        list(read_bytes(ROW, "a.json", format="nope"))


@dataclass(frozen=True, slots=True)
class Twin:
    """Knows what tau-bench knows: a third party's reader."""

    def sniff(self, document: Document) -> Match:
        return Match.YES if "traj" in document.keys else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        yield Trajectory(id="twin", spans=[Span("user", -1, document.name)])


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_plugins", {**formats.items(), "twin": Twin})


@pytest.mark.usefixtures("twin")
def test_two_readers_that_are_equally_sure_are_both_named() -> None:
    assert said(read_bytes(TAU, "a.json")) == ["! a.json: could be tau_bench or twin: say which with format="]
    assert said(read_bytes(TAU, "a.json", format="twin")) == ["twin"]


def test_every_built_in_is_a_reader_with_a_sentence() -> None:
    for plugin in formats.items().values():
        reader: Reader = plugin()
        assert reader.sniff(Document("a", b"")) == Match.NO
        assert plugin.__doc__


def test_files_are_read_in_order_and_a_bad_one_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.json").write_bytes(ROW)
    (tmp_path / "logs" / "b.txt").write_text("notes")
    (tmp_path / "logs" / "c.jsonl.gz").write_bytes(gzip.compress(ROW + b"\n" + ROW[:5] + b"\n" + ROW))
    (tmp_path / "logs" / "d.zst").write_bytes(zstandard.compress(TAU)[:-3])
    (tmp_path / "logs" / "e.zst").write_bytes(zstandard.compress(TAU))
    found = said(read(["logs", Path("gone.json")]))
    assert found[:2] == ["logs/a.json", "! logs/b.txt: no known format: it holds no JSON objects"]
    assert found[2] == "logs/c.jsonl.gz#1"
    assert found[3] == "! logs/c.jsonl.gz:2: line 2: not JSON: Input data was truncated"
    assert found[4] == "logs/c.jsonl.gz#3"
    assert found[5].startswith("! logs/d.zst: the compressed file is damaged or cut off")
    assert found[6:] == ["logs:1:0", "! gone.json: no such file or folder"]
    assert said(read("logs/a.json")) == said(read(Path("logs/a.json"))) == ["logs/a.json"]
    with pytest.raises(ParseError, match="no known format"):
        list(read("logs", strict=True))


def row(name: str, text: str) -> bytes:
    return json.dumps({"id": name, "messages": [{"role": "assistant", "content": text}]}).encode()


def test_a_record_that_comes_twice_is_read_once_and_one_of_the_same_id_gets_a_number() -> None:
    rows = [row("x", "a"), row("x", "b"), row("x", "a"), row("x", "b"), row("x#2", "c"), row("x", "d")]
    assert said(read_bytes(b"\n".join(rows), "a.jsonl")) == [
        "x",
        "x#2",
        "! a.jsonl:3: record 3: trajectory 'x' repeats record 1 of a.jsonl: read once",
        "! a.jsonl:4: record 4: trajectory 'x' repeats record 2 of a.jsonl: read once",
        "x#2#2",
        "x#3",
    ]


def test_equal_rows_without_an_id_are_two_rollouts() -> None:
    assert said(read_bytes(ROW + b"\n" + ROW, "a.jsonl")) == ["a.jsonl#1", "a.jsonl#2"]


def test_ids_are_kept_apart_across_files_and_a_file_named_twice_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_bytes(row("x", "a"))
    (tmp_path / "b.json").write_bytes(row("x", "b"))
    assert said(read(["a.json", "b.json", "a.json"])) == [
        "x",
        "x#2",
        "! a.json: trajectory 'x' repeats a.json: read once",
    ]


def test_canonical_lines_repeat_by_what_they_hold_not_by_where_they_came_from() -> None:
    line = b'{"schema": "trajcredit.trajectory/1", "id": "x", "spans": [], "source": {"format": "f", "sha256": "1"}%b}'
    found = said(read_bytes(b"\n".join([line % b"", line % b', "task": "t"', line % b""]), "a.jsonl"))
    assert found == ["x", "x#2", "! a.jsonl: trajectory 'x' repeats a.jsonl: read once"]


def test_the_data_set_may_be_said_by_the_caller() -> None:
    [trajectory] = read_bytes(ROW, "upload.json", dataset="exp-1")
    assert isinstance(trajectory, Trajectory)
    assert (trajectory.dataset, trajectory.id) == ("exp-1", "upload.json")


def test_an_upload_may_be_compressed() -> None:
    assert said(read_bytes(gzip.compress(ROW), "a.json")) == ["a.json"]
    assert said(read_bytes(gzip.compress(ROW)[:-2], "a.json"))[0].startswith("! a.json: the compressed file is damaged")
