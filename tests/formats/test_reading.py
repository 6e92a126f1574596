"""Files to trajectories: which reader a log gets, how ids stay apart, what goes into the report."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard

from trajcredit.errors import ParseError, SkippedFile, UnknownNameError
from trajcredit.formats import Document, Match, Reader, read, read_bytes
from trajcredit.model import Span, Trajectory
from trajcredit.registry import formats

ROW = b'{"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "done"}]}'
TAU = b'{"task_id": 1, "trial": 0, "reward": 1.0, "traj": [{"role": "assistant", "content": "done"}]}'


def said(found: Iterator[Trajectory | ParseError]) -> list[str]:
    """Ids, errors behind a `!`, skipped files behind a `-`."""
    marks = {ParseError: "! ", SkippedFile: "- "}
    return [item.id if isinstance(item, Trajectory) else f"{marks[type(item)]}{item}" for item in found]


@pytest.mark.parametrize(
    ("data", "format"),
    [
        pytest.param(ROW, "openai_chat", id="messages are chat, the fallback"),
        pytest.param(TAU, "tau_bench", id="task, reward and traj are tau-bench"),
        pytest.param(b'{"task_id": 1, "reward": 1, "traj": []}', "tau_bench", id="also without a trial"),
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
        pytest.param(
            b"{%b}" % b", ".join(b'"k%02d": 0' % n for n in range(11)),
            "no known format: its objects have the keys " + ", ".join(f"k{n:02}" for n in range(10)),
            id="ten of many keys",
        ),
        pytest.param(b"{}", "no known format: its objects have the keys (none)", id="no keys"),
        pytest.param(
            b'{"schema": "trajcredit.credit/1", "trajectory_id": "t"}',
            "no known format: credit rows that trajcredit wrote",
            id="our own output",
        ),
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
    assert said(read_bytes(TAU, "a.json", format="openai_chat")) == [
        "! a.json: Object missing required field `messages`"
    ]
    assert said(read_bytes(b"[]", "a.json", format="tau_bench")) == ["! a.json: nothing in it can be read as tau_bench"]
    with pytest.raises(UnknownNameError, match=r"no format named 'nope'; known: .*openai_chat, .*trajcredit"):
        list(read_bytes(ROW, "a.json", format="nope"))


TORN = ROW[:30]


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        pytest.param([b'{"meta": 1}'], "Object missing required field `messages`", id="an object of other keys"),
        pytest.param([b"{}"], "Object missing required field `messages`", id="an object of no keys"),
        pytest.param([b'{"meta": 1}'] * 30, "Object missing required field `messages`", id="thirty of them"),
        pytest.param([TORN], "not JSON: Input data was truncated", id="a broken one"),
        pytest.param([TORN] * 21, "not JSON: Input data was truncated", id="twenty-one broken ones"),
        pytest.param([TORN] * 2000 + [b'{"meta": 1}'] * 500, "", id="thousands"),
        pytest.param([b"5", b"null"], "Expected `object | array`", id="no objects"),
        pytest.param([b"[]"], None, id="an empty list is an empty trajectory"),
        pytest.param([b'[{"role": "us'], "not JSON: Input data was truncated", id="a broken list"),
        pytest.param([b"loading the model"], "not JSON", id="a word on the way"),
        pytest.param(
            [b'{"role": "meta", "content": "v1"}'], "Object missing required field `messages`", id="a message"
        ),
    ],
)
@pytest.mark.parametrize("format", [None, "openai_chat"])
def test_odd_records_ahead_of_good_ones_are_rows_of_the_report_and_the_good_ones_are_read(
    odd: list[bytes], reason: str | None, format: str | None
) -> None:
    found = list(read_bytes(b"\n".join([*odd, *[ROW] * 500]), "a.jsonl", format=format))
    assert [item.id for item in found[len(odd) :] if isinstance(item, Trajectory)] == [
        f"a.jsonl#{len(odd) + 1 + number}" for number in range(500)
    ]
    if reason is not None:
        errors = [item for item in found[: len(odd)] if isinstance(item, ParseError)]
        assert [error.line for error in errors] == list(range(1, len(odd) + 1))
        assert all(error.reason.startswith(f"line {error.line}: {reason}") for error in errors)


@pytest.mark.parametrize(
    ("good", "format"),
    [
        pytest.param(TAU, "tau_bench", id="tau-bench"),
        pytest.param(b'{"schema": "trajcredit.trajectory/1", "id": "x", "spans": []}', "trajcredit", id="canonical"),
        pytest.param(b'[{"role": "user", "content": "go"}]', "openai_chat", id="lists of messages"),
        pytest.param(b'{"role": "user", "content": "go"}', "openai_chat", id="messages"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_odd_records_hide_no_format(good: bytes, format: str, named: bool) -> None:
    for data in (b'{"meta": 1}\n' + good + b"\n", b'[{"meta": 1}, ' + good + b"]"):
        error, trajectory = read_bytes(data, "a.log", format=format if named else None)
        assert isinstance(error, ParseError)
        assert error.line == 1
        assert isinstance(trajectory, Trajectory)


def test_the_first_objects_that_are_known_decide() -> None:
    found = said(read_bytes(b'{"meta": 1}\n' + TAU + b"\n" + b'{"other": 2}', "a.jsonl"))
    missing = "Object missing required field `task_id`"
    assert found == [f"! a.jsonl: line 1: {missing}", "a.jsonl:1:0", f"! a.jsonl: line 3: {missing}"]


def test_the_search_for_a_format_ends() -> None:
    data = b'{"meta": 1}\n' * 20_000 + ROW
    assert said(read_bytes(data, "a.jsonl")) == ["! a.jsonl: no known format: its objects have the keys meta"]


def test_what_is_wrong_between_records_is_reported_and_they_are_read() -> None:
    assert said(read_bytes(b"[" + ROW + b"\n" + ROW + b", nul, " + ROW + b",]", "a.json")) == [
        "! a.json: record 2: no comma before it, at byte 93, line 2 of the file",
        "! a.json: no record between the last comma and the end of the array at byte 283, line 2 of the file",
        "a.json#1",
        "a.json#2",
        "! a.json: record 3: not JSON: Input data was truncated; it starts at byte 186, line 2 of the file",
        "a.json#4",
    ]


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
    assert found[:2] == ["a.json", "- logs/b.txt: no log: it holds no JSON objects"]
    assert found[2] == "c.jsonl.gz#1"
    assert found[3] == "! logs/c.jsonl.gz: line 2: not JSON: Input data was truncated"
    assert found[4] == "c.jsonl.gz#3"
    assert found[5].startswith("! logs/d.zst: the compressed file is damaged or cut off")
    assert found[6:] == ["logs:1:0", "! gone.json: no such file or folder"]
    assert said(read("logs/a.json")) == said(read(Path("logs/a.json"))) == ["a.json"]
    with pytest.raises(ParseError, match=r"c\.jsonl\.gz: line 2: not JSON"):
        list(read("logs", strict=True))


def test_a_format_that_is_named_is_that_of_every_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in (("a.json", ROW), ("b.json", TAU), ("c.md", b"# Notes"), ("d.json", b'{"other": 1}')):
        (tmp_path / name).write_bytes(data)
    assert said(read(".", format="tau_bench")) == [
        "! a.json: Object missing required field `task_id`",
        f"{tmp_path.name}:1:0",
        "- c.md: no log: it holds no JSON objects",
        "! d.json: Object missing required field `task_id`",
    ]


OTHERS = {
    "readme.md": (b"# Logs\n\nOne row:\n\n" + ROW + b"\n\nand so on,\n\nand so on.\n" * 20, "it holds no JSON objects"),
    "run.py": (b"import json\n\nprint(json.dumps([1]))\n", "it holds no JSON objects"),
    "todo.txt": (b"[ ] wash\n[x] dry\n", "it holds no JSON objects"),
    "plot.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it holds no JSON objects"),
    "rows.arrow": (b"ARROW1\0\0\xff\xff", "it holds no JSON objects"),
    "version": (b"0.1\n", "it holds no JSON objects"),
    "empty.jsonl": (b"", "the file is empty"),
    "credit.jsonl": (b'{"schema": "trajcredit.credit/1", "trajectory_id": "t", "role": null}\n' * 2, "credit rows"),
    "labels.jsonl": (b'{"schema": "trajcredit.label/1", "trajectory_id": "t"}\n', "labels"),
    "opinions.jsonl": (b'{"schema": "trajcredit.opinion/1", "trajectory_id": "t"}\n', "opinions of a judge"),
    "answers.jsonl": (
        b'{"schema": "trajcredit.answer/1", "key": "k", "answer": ""}\n',
        "answers of a judge's model that trajcredit kept",
    ),
    "edges.jsonl": (b'{"trajectory_id": "t", "child": {}, "parent": {}, "kind": "value", "weight": 1}\n', "edge rows"),
    "graph.json": (b'{"trajectory_id": "t", "spans": [], "edges": []}\n', "a dependency graph"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_lies_beside_logs_in_a_folder_is_skipped_but_an_error_where_it_is_named(tmp_path: Path, name: str) -> None:
    data, what = OTHERS[name]
    (tmp_path / name).write_bytes(data)
    (tmp_path / "z.json").write_bytes(ROW)
    skipped, log = read(tmp_path)
    assert type(skipped) is SkippedFile
    assert skipped.reason.removesuffix(" that trajcredit wrote") == f"no log: {what}"
    assert skipped.file == str(tmp_path / name)
    assert isinstance(log, Trajectory)
    assert [item.id for item in read(tmp_path, strict=True) if isinstance(item, Trajectory)] == ["z.json"]
    [error] = read(tmp_path / name)
    assert type(error) is ParseError
    assert error.reason.removesuffix(" that trajcredit wrote") == f"no known format: {what}"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b'{"settings": 1}', "no known format: its objects have the keys settings", id="other JSON"),
        pytest.param(b"[1, 2]", "no known format: record 1: Expected `object`", id="an array of numbers"),
        pytest.param(ROW[:-1], "no known format: not JSON: Input data was truncated", id="a log that is torn"),
        pytest.param(b"[" + ROW[:-1], "no known format: record 1: the array is cut off", id="an array that is torn"),
        pytest.param(gzip.compress(b"notes")[:-2], "the compressed file is damaged", id="a damaged archive"),
    ],
)
def test_json_of_no_known_format_and_what_is_damaged_is_an_error_also_in_a_folder(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "a.json").write_bytes(data)
    [error] = read(tmp_path)
    assert type(error) is ParseError
    assert error.reason.startswith(reason)


def test_ids_do_not_depend_on_how_a_path_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run" / "deep").mkdir(parents=True)
    (tmp_path / "run" / "log.json").write_bytes(b"[" + TAU + b", " + TAU.replace(b": 0", b": 1") + b"]")
    (tmp_path / "run" / "one.json").write_bytes(TAU)
    monkeypatch.chdir(tmp_path / "run" / "deep")
    expected = ["log.json:1:0", "log.json:1:1", "run:1:0"]
    for typed in ("..", str(tmp_path / "run"), "../../run", f"{tmp_path}/run/deep/../"):
        found = [item for item in read(typed) if isinstance(item, Trajectory)]
        assert [trajectory.id for trajectory in found] == expected
        assert [trajectory.dataset for trajectory in found] == ["log.json", "log.json", "run"]
        assert [trajectory.source and trajectory.source.file for trajectory in found] == [*["log.json"] * 2, "one.json"]


def test_two_files_of_one_name_keep_their_groups_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, content in (("run", "a"), ("old/run", "b")):
        (tmp_path / folder).mkdir(parents=True)
        one = TAU.replace(b"done", content.encode())
        (tmp_path / folder / "log.json").write_bytes(b"[" + one + b", " + one.replace(b": 0", b": 1") + b"]")
        (tmp_path / folder / "one.json").write_bytes(one)
    monkeypatch.chdir(tmp_path / "old")
    found = [t for t in read(["run/log.json", "../run/log.json", "run", "../run"]) if isinstance(t, Trajectory)]
    root = tmp_path.name
    assert [t.dataset for t in found] == [
        *["old/run/log.json"] * 2,
        *[f"{root}/run/log.json"] * 2,
        "old/run",
        f"{root}/run",
    ]
    assert len({t.id for t in found}) == len(found)
    assert {note.code for t in found for note in t.report} == {"twin"}


def row(name: str, text: str) -> bytes:
    return json.dumps({"id": name, "messages": [{"role": "assistant", "content": text}]}).encode()


def test_a_record_that_comes_twice_is_read_once_and_one_of_the_same_id_gets_a_number() -> None:
    rows = [row("x", "a"), row("x", "b"), row("x", "a"), row("x", "b"), row("x#2", "c"), row("x", "d")]
    assert said(read_bytes(b"\n".join(rows), "a.jsonl")) == [
        "x",
        "x#2",
        "! a.jsonl: record 3: trajectory 'x' repeats record 1 of a.jsonl: read once",
        "! a.jsonl: record 4: trajectory 'x' repeats record 2 of a.jsonl: read once",
        "x#2#2",
        "x#3",
    ]


def test_a_number_that_an_id_has_already_is_stepped_over() -> None:
    rows = [row("x#2", "a"), row("x", "b"), row("x", "c"), row("x", "d")]
    assert said(read_bytes(b"\n".join(rows), "a.jsonl")) == ["x#2", "x", "x#3", "x#4"]


def test_ids_are_kept_apart_across_files_and_a_file_named_twice_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_bytes(row("x", "a"))
    (tmp_path / "b.json").write_bytes(row("x", "b"))
    assert said(read(["a.json", "b.json", tmp_path / "a.json"])) == [
        "x",
        "x#2",
        f"! {tmp_path}/a.json: is the same file as a.json: read once",
    ]


def test_files_of_the_same_bytes_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in (("x.jsonl", ROW), ("x.jsonl.gz", gzip.compress(ROW)), ("y.jsonl", ROW + b" "), ("z.txt", b"")):
        (tmp_path / name).write_bytes(data)
    assert said(read(["x.jsonl.gz", ".", "z.txt"])) == [
        "x.jsonl.gz",
        "! x.jsonl: holds the same bytes as x.jsonl.gz: read once",
        "- x.jsonl.gz: is the same file as x.jsonl.gz: read once",
        "y.jsonl",
        "- z.txt: no log: the file is empty",
        "! z.txt: is the same file as z.txt: read once",
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
    assert said(read_bytes(gzip.compress(ROW)[:20], "a.json"))[0].startswith("! a.json: the compressed file is damaged")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        pytest.param("a.eval", b"PK\x03\x04 and no more", "a zip archive that is damaged or cut off", id="cut archive"),
        pytest.param("a.log", gzip.compress(gzip.compress(ROW)), "gzip inside of gzip", id="packed twice"),
        pytest.param("a.txt", ROW.decode().encode("utf-16"), "text as UTF-16 or UTF-32: expected UTF-8", id="UTF-16"),
        pytest.param("a.jsonl", b"half of a line", "it is named .jsonl, and", id="by its name"),
    ],
)
def test_what_was_a_log_is_an_error_in_a_folder_too(name: str, data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.json").write_bytes(ROW)
    failed = [item for item in read(tmp_path) if isinstance(item, ParseError)]
    assert [type(item) for item in failed] == [ParseError], "an error, not a file passed over"
    assert why in failed[0].reason
