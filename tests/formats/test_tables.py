"""Parquet files: their rows are read as JSON lines of the same rows would be."""

from __future__ import annotations

import gzip
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from tests.formats.logs import calls, codes, kinds, pairs, refusals, texts
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read, read_bytes
from trajcredit.formats.tables import lines_of_table
from trajcredit.model import Trajectory

TOOLS = json.dumps([{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}])


def table(*rows: dict[str, Any], **how: Any) -> bytes:
    """The bytes of a file with these rows."""
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), file, **how)
    return file.getvalue()


def messages(tool: str, arguments: dict[str, Any], result: str = "ok") -> list[dict[str, Any]]:
    """A question, a call, its result, an answer, as TRL writes them."""
    call = {"type": "function", "function": {"name": tool, "arguments": arguments}}
    return [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "name": tool, "content": result},
        {"role": "assistant", "content": "Done."},
    ]


def rows_of(data: bytes, **how: Any) -> list[Trajectory]:
    found = list(read_bytes(data, "set.parquet", **how))
    assert not refusals(found), found
    return [item for item in found if isinstance(item, Trajectory)]


def test_messages_and_tools() -> None:
    first, second = rows_of(
        table(
            {"messages": messages("add", {"a": 1, "b": 2}, "3"), "tools": TOOLS},
            {"messages": messages("say", {"text": "hi"}), "tools": TOOLS},
        )
    )
    assert [one.arguments for one in calls(first)] == [{"a": 1, "b": 2}], "the keys of other rows are no arguments"
    assert [one.arguments for one in calls(second)] == [{"text": "hi"}]
    assert pairs(first) == [("add", "3", None)]
    assert [tool.name for tool in first.tools] == ["add"]
    assert [(one.id, one.source and one.source.line) for one in (first, second)] == [
        ("set.parquet#1", 1),
        ("set.parquet#2", 2),
    ]


def test_prompt_and_completion() -> None:
    asked, *answered = messages("add", {"a": 1})
    [got] = rows_of(table({"prompt": [asked], "completion": answered, "tools": TOOLS}))
    assert got.source is not None
    assert got.source.format == "trl"
    assert kinds(got) == ["user", "tool_call", "tool_result", "assistant"]
    assert [one.arguments for one in calls(got)] == [{"a": 1}]


def test_preferences_and_grpo_logs() -> None:
    row = {"prompt": "2+2?", "chosen": "4", "rejected": "5", "score_chosen": 1.0, "score_rejected": 0.0}
    pair = rows_of(table(row))
    assert [(t.group, [r.value for r in t.rewards]) for t in pair] == [("set.parquet", [1.0]), ("set.parquet", [0.0])]
    of_step = {"step": 3, "prompt": "2+2?", "advantage": 0.0}
    log = rows_of(table(*({**of_step, "completion": str(n), "right": float(n == 4)} for n in (4, 5))))
    assert len({t.group for t in log}) == 1
    assert [[(r.value, r.name) for r in t.rewards] for t in log] == [[(1.0, "right")], [(0.0, "right")]]


def test_other_formats_are_known_by_their_columns() -> None:
    [got] = rows_of(table({"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]}))
    assert got.source is not None
    assert got.source.format == "sharegpt"


@pytest.mark.parametrize(
    ("reward", "said"),
    [(float("nan"), "NaN"), (float("inf"), "Infinity"), (float("-inf"), "-Infinity")],
    ids=["NaN", "infinity", "less"],
)
@pytest.mark.parametrize("as_text", [False, True], ids=["messages", "messages as text"])
def test_a_reward_that_is_no_number_is_refused_as_in_json(reward: float, said: str, as_text: bool) -> None:
    chat: Any = messages("add", {"a": 1})
    rows = [{"messages": json.dumps(chat) if as_text else chat, "reward": value} for value in (1.0, reward)]
    good, bad = read_bytes(table(*rows), "set.parquet")
    assert isinstance(good, Trajectory)
    assert str(bad) == f"set.parquet: line 2: {said} is not a finite number - at `$.reward`"


def test_a_map_is_an_object() -> None:
    kinds = pyarrow.map_(pyarrow.string(), pyarrow.int64())
    rows = pyarrow.table({"id": ["a"], "meta": pyarrow.array([[("x", 1), ("y", None)]], type=kinds)})
    file = io.BytesIO()
    parquet.write_table(rows, file)
    assert json.loads(lines_of_table(file.getvalue(), "t", 1 << 20)) == {"id": "a", "meta": {"x": 1}}


TALK = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "ho"}]
USES = [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}]


@pytest.mark.parametrize(
    ("column", "value", "format"),
    [
        pytest.param("messages", messages("add", {"a": 1}), "openai_chat", id="messages"),
        pytest.param("messages", [], "openai_chat", id="no messages"),
        pytest.param("messages", USES, "anthropic", id="messages of Anthropic"),
        pytest.param("conversations", TALK, "sharegpt", id="conversations"),
        pytest.param("prompt", [{"role": "user", "content": "2+2?"}], "trl", id="a prompt"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "jsonl", "json"])
def test_messages_as_json_text_are_messages(column: str, value: Any, format: str, kind: str) -> None:
    more = {"completion": json.dumps([{"role": "assistant", "content": "4"}])} if column == "prompt" else {}
    rows: list[dict[str, Any]] = [{column: json.dumps(value), **more}, {column: json.dumps(value), **more, "n": 1}]
    data = {"parquet": table(*rows), "json": json.dumps(rows).encode()}.get(
        kind, "\n".join(map(json.dumps, rows)).encode()
    )
    found = [item for item in read_bytes(data, "set") if isinstance(item, Trajectory)]
    assert [t.source and t.source.format for t in found] == [format, format]
    whole = [{column: value, **{key: json.loads(text) for key, text in more.items()}}] * 2
    [plain, _] = read_bytes("\n".join(map(json.dumps, whole)).encode(), "set")
    assert isinstance(plain, Trajectory)
    assert [(span.kind, span.text, span.arguments) for span in found[1].spans] == [
        (span.kind, span.text, span.arguments) for span in plain.spans
    ]


def test_text_that_is_no_json_is_refused_by_its_field_and_costs_no_other() -> None:
    good = json.dumps(messages("add", {"a": 1}))
    error, read_one = read_bytes(table({"messages": good[:-3]}, {"messages": good}), "set.parquet")
    assert str(error) == "set.parquet: line 1: Expected `array`, got `str` - at `$.messages`"
    assert isinstance(read_one, Trajectory)


def test_half_a_surrogate_pair_in_messages_that_are_text_is_replaced_and_said() -> None:
    row = {"messages": json.dumps([{"role": "user", "content": "a\ud800"}, {"role": "assistant", "content": "b\0"}])}
    found = rows_of("\n".join(map(json.dumps, [row, {**row, "other": "\ud800"}])).encode())
    assert [[span.text for span in t.spans] for t in found] == [["a\ufffd", "b\u2400"]] * 2
    assert all("sanitised" in codes(t) for t in found)


def test_text_in_a_column_of_prose_stays_text() -> None:
    row = {"input": '[{"role": "user"}]', "output": "[]", "score": 1.0, "step": 1}
    [got] = rows_of(table(row))
    assert got.spans[-1].text == "[]"


def test_what_json_has_no_word_for() -> None:
    at = datetime(2026, 5, 1, tzinfo=UTC)
    row = {"b": b"\x00\xff", "at": at, "n": None, "l": [None, 1]}
    lines = lines_of_table(table(row), "t", 1 << 20)
    assert json.loads(lines) == {"b": "AP8=", "at": "2026-05-01T00:00:00Z", "l": [None, 1]}


def test_a_nul_is_replaced_and_said() -> None:
    [got] = rows_of(table({"messages": messages("add", {"a": 1}, "a\0b")}))
    assert texts(got, "tool_result") == ["a\u2400b"]
    assert "sanitised" in codes(got)


def test_a_table_that_is_no_log_says_what_its_columns_are() -> None:
    [error] = read_bytes(table({"image": b"x", "caption": "a cat"}), "cats.parquet")
    assert str(error) == "cats.parquet: no known format: its objects have the keys caption, image"


@pytest.mark.parametrize("cut", [slice(4), slice(100), slice(-20)], ids=["magic", "beginning", "without an end"])
def test_a_damaged_file_is_refused(cut: slice) -> None:
    [error] = read_bytes(table({"messages": messages("add", {"a": 1})})[cut], "set.parquet")
    assert isinstance(error, ParseError)
    assert str(error).startswith("set.parquet: the Parquet file is damaged or cut off: ")


def test_a_damaged_page_is_refused() -> None:
    data = bytearray(table({"prompt": "p" * 500, "completion": "c" * 500}, compression="gzip"))
    data[30:60] = b"\xff" * 30
    [error] = read_bytes(bytes(data), "set.parquet")
    assert isinstance(error, ParseError)
    assert "damaged" in error.reason


def test_a_small_file_cannot_fill_the_memory() -> None:
    packed = table(*[{"prompt": "p", "completion": "x" * 100_000} for _ in range(200)])
    assert len(packed) < 20_000
    [error] = read_bytes(packed, "set.parquet", limit=1 << 20)
    assert "decodes to more than" in str(error)
    rows = [{"prompt": "p" * n, "completion": "x" * 50_000 + str(n)} for n in range(40)]
    one_by_one = table(*rows, use_dictionary=False)
    [error] = read_bytes(one_by_one, "set.parquet", limit=1 << 20)
    assert "decodes to more than" in str(error)


def test_files_gzip_and_our_own_output(tmp_path: Path) -> None:
    data = table({"prompt": "2+2?", "completion": "4"})
    (tmp_path / "set.parquet").write_bytes(data)
    (tmp_path / "set.parquet.gz").write_bytes(gzip.compress(table({"prompt": "3+3?", "completion": "6"})))
    (tmp_path / "credit.parquet").write_bytes(table({"schema": "trajcredit.credit/1", "credit": 0.5}))
    found = list(read(tmp_path))
    assert [texts(item, "assistant") for item in found if isinstance(item, Trajectory)] == [["4"], ["6"]]
    skipped = [item.reason for item in found if isinstance(item, SkippedFile)]
    assert skipped == ["no log: credit rows that trajcredit wrote"]
