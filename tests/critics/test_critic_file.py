"""Fitted critics as files: what is read is what was written, and nothing that a file can hold is trusted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import batch_of
from tests.critics.worlds import ask, call, desk, got, renumbered, say, told, with_tools
from trajcredit.critics import COLUMNS, KINDS, critic_file, fit, known, load, to_bytes
from trajcredit.errors import InputError, UnknownNameError

KEPT = ("compatible", "ridge")


@cache
def written(kind: str = "compatible") -> bytes:
    return to_bytes(fit(batch_of(*desk(groups=8, rollouts=3)), kind))


def parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Header without metadata, document, numbers."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    return header, json.loads(header.pop("__metadata__")["trajcredit"]), data[end:]


def joined(header: Any, document: Any, body: bytes) -> bytes:
    told = json.dumps({"__metadata__": {"trajcredit": json.dumps(document)}, **header}).encode()
    return len(told).to_bytes(8, "little") + told + body


def refused(tmp_path: Path, data: bytes) -> str:
    """What is said of a file that holds no fitted critic."""
    file = tmp_path / "x.critic"
    file.write_bytes(data)
    with pytest.raises(InputError) as error:
        load(file)
    said = str(error.value)
    assert said.startswith(f"{file} is no fitted critic of this version: ")
    return said.partition("version: ")[2]


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_read_is_what_was_written_bit_for_bit(kind: str, tmp_path: Path) -> None:
    batch = batch_of(*desk(), *with_tools(renumbered(desk(groups=3), "b"), "b"))  # the second pool is too small
    critic = fit(batch, kind)
    file = tmp_path / "x.critic"
    file.write_bytes(to_bytes(critic))
    read = load(file)
    assert to_bytes(read) == to_bytes(critic)
    assert read.fingerprint == critic.fingerprint
    new = batch_of(*renumbered(desk(seed=1), "new"))
    for one in (batch, new):
        found, wanted = read.fill(one), critic.fill(one)
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
        assert found.notes == wanted.notes


def test_the_layout_is_that_of_safetensors() -> None:
    data = written()
    header, document, body = parts(data)
    assert document["schema"] == "trajcredit.critic/1"
    assert (len(data) - len(body)) % 8 == 0
    ends = sorted(tuple(one["data_offsets"]) for one in header.values())
    assert ends[0][0] == 0
    assert [start for start, _ in ends[1:]] == [end for _, end in ends[:-1]]
    assert ends[-1][1] == len(body)
    assert {one["dtype"] for one in header.values()} <= {"F64", "I64", "U64"}


def test_texts_of_any_kind_come_back(tmp_path: Path) -> None:
    def odd(g: int, k: int) -> Any:
        steps = (
            ask("do \x00 7"),
            call("lo\x00ok", {"\x1f": "é\u2028"}),
            got('{"\\ud83d": "\\ud800"}'),
            say("\x00\U0001f600"),
        )
        return told(*steps, outcome=float(k), name=f"{g}{k}", group=f"g\ud800{g}", tools=["lo\x00ok"])

    batch = batch_of(*(odd(g, k) for g in range(8) for k in range(2)))
    file = tmp_path / "x.critic"
    file.write_bytes(to_bytes(fit(batch, "compatible")))
    assert to_bytes(load(file)) == file.read_bytes()
    np.testing.assert_array_equal(load(file).fill(batch).values, fit(batch, "compatible").fill(batch).values)


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    data = written()
    end = len(data) - len(parts(data)[2])
    for size in (0, 1, 7, 8, 9, end // 2, end - 1, end, end + 8, len(data) - 1):
        assert refused(tmp_path, data[:size])
    assert "bytes after its last array belong to none" in refused(tmp_path, data + b"\0" * 8)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b'{"schema": "x"}\n' * 9, "no header of the length that its first 8 bytes say", id="JSON lines"),
        pytest.param(b"\xff" * 64, "no header of the length", id="a length of 2^64 - 1"),
        pytest.param((2).to_bytes(8, "little") + b"{}", "its metadata has no text 'trajcredit'", id="no metadata"),
        pytest.param((2).to_bytes(8, "little") + b"[]", "its header is []; expected an object", id="a list"),
        pytest.param((3).to_bytes(8, "little") + b"NaN", "its header is no JSON: NaN is no JSON number", id="NaN"),
        pytest.param((9).to_bytes(8, "little") + b'{"a":1}  ', "its metadata has no text", id="no tensors"),
        pytest.param((4000).to_bytes(8, "little") + b"[" * 4000, "its header is no JSON", id="deep"),
        pytest.param((5000).to_bytes(8, "little") + b"1" * 5000, "its header is", id="a number of 5000 digits"),
    ],
)
def test_what_is_something_else_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    assert said in refused(tmp_path, data)


def in_document(change: Callable[[dict[str, Any]], Any]) -> bytes:
    header, document, body = parts(written())
    change(document)
    return joined(header, document, body)


def in_header(change: Callable[[dict[str, Any]], Any]) -> bytes:
    header, document, body = parts(written())
    change(header)
    return joined(header, document, body)


def in_model(change: Callable[[dict[str, Any]], Any]) -> bytes:
    return in_document(lambda document: change(document["pools"][0]["model"]))


def swapped(names: list[str]) -> None:
    names[0] = names[1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(
            lambda: in_document(lambda d: d.update(schema="x/1")),
            "expected schema 'trajcredit.critic/1', found 'x/1'",
            id="schema",
        ),
        pytest.param(
            lambda: in_document(lambda d: d.update(kind="oracle")),
            "it is of kind 'oracle'; known: compatible, ridge, sequence",
            id="kind",
        ),
        pytest.param(
            lambda: in_document(lambda d: d.update(kind="ridge")), "expected F64[9, ", id="another kind's arrays"
        ),
        pytest.param(
            lambda: in_document(lambda d: d.update(extra=1)),
            "its document: Object contains unknown field `extra`",
            id="a field more",
        ),
        pytest.param(
            lambda: in_document(lambda d: d.pop("pools")),
            "its document: Object missing required field `pools`",
            id="a field less",
        ),
        pytest.param(
            lambda: in_document(lambda d: d["pools"].append(d["pools"][0])),
            "pool 1 has no array 'marks'",
            id="a pool without arrays",
        ),
        pytest.param(
            lambda: in_document(lambda d: d.update(pools=[])),
            "it has an array '0/marks', which no pool has",
            id="arrays without a pool",
        ),
        pytest.param(
            lambda: in_document(lambda d: d["pools"][0]["folds"].update({"task-0": 10})),
            "folds are numbered from 0 to 9",
            id="a fold",
        ),
        pytest.param(
            lambda: in_document(lambda d: d["pools"][0]["folds"].pop("task-0")),
            "'figures' is float64[8, 5]; expected F64[7, 5]",
            id="a group less",
        ),
        pytest.param(lambda: in_model(lambda m: swapped(m["names"])), "two columns have one name", id="a column twice"),
        pytest.param(lambda: in_model(lambda m: m["names"].append("tool|x")), "expected F64[", id="a column more"),
        pytest.param(
            lambda: in_model(lambda m: m["states"].reverse()),
            "the last columns of the state are not progress|used",
            id="states",
        ),
        pytest.param(
            lambda: in_model(lambda m: m["folds"].__setitem__(0, 77)),
            "models are without the folds (77, ",
            id="no such fold",
        ),
        pytest.param(
            lambda: in_model(lambda m: m["folds"].__setitem__(0, m["folds"][1])),
            "models are without the folds",
            id="a fold twice",
        ),
        pytest.param(
            lambda: in_model(lambda m: m["words"].update(trade=[1])), "Expected `str`, got `int`", id="a word"
        ),
        pytest.param(lambda: in_header(lambda h: h.pop("0/marks")), "is said to lie at", id="a gap"),
        pytest.param(
            lambda: in_header(lambda h: h["0/marks"].update(shape=[2**62, 4])),
            "of shape (4611686018427387904, 4) is said",
            id="huge",
        ),
        pytest.param(
            lambda: in_header(lambda h: h["0/marks"].update(shape=[-1])), "is 'U64' of shape (-1,)", id="negative"
        ),
        pytest.param(
            lambda: in_header(lambda h: h["0/marks"].update(shape=[1.5])),
            "expected dtype, shape and data_offsets",
            id="half",
        ),
        pytest.param(lambda: in_header(lambda h: h["0/marks"].update(dtype="O")), "is 'O' of shape", id="objects"),
        pytest.param(
            lambda: in_header(lambda h: h["0/marks"].update(dtype="F64")),
            "'marks' is float64[24]; expected U64[24]",
            id="dtype",
        ),
        pytest.param(
            lambda: in_header(lambda h: h["0/marks"].update(data_offsets=[0, 2**70])),
            "is said to lie at",
            id="past the end",
        ),
        pytest.param(
            lambda: in_header(lambda h: h.update({"0/marks": 7})),
            "expected dtype, shape and data_offsets",
            id="no tensor",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path: Path, data: Callable[[], bytes], said: str) -> None:
    assert said in refused(tmp_path, data())


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["choice", "cells", "links", "figures"])
def test_numbers_that_are_none_are_refused(tmp_path: Path, name: str, value: float) -> None:
    header, document, body = parts(written())
    start = header[f"0/{name}"]["data_offsets"][0]
    data = joined(header, document, body[:start] + np.array(value).tobytes() + body[start + 8 :])
    if name == "figures" and np.isnan(value):  # a group that cannot tell
        file = tmp_path / "x"
        file.write_bytes(data)
        assert load(file).kind == "compatible"
    else:
        assert refused(tmp_path, data) == f"pool 0: {name!r} holds what is no number within 9.0072e+15"


def test_marks_that_do_not_ascend_are_refused(tmp_path: Path) -> None:
    header, document, body = parts(written())
    start, end = header["0/marks"]["data_offsets"]
    reverse = np.frombuffer(body[start:end])[::-1].tobytes()
    assert refused(tmp_path, joined(header, document, body[:start] + reverse + body[end:])) == (
        "pool 0: 'marks' do not ascend"
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_byte_is_changed_the_file_is_refused_or_read(data: st.DataObject) -> None:
    good = written()
    changed = bytearray(good)
    head = len(good) - len(parts(good)[2])
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, head - 1))] = data.draw(st.integers(0, 255))
    try:
        found = critic_file._read(bytes(changed))
    except critic_file._BrokenError:  # anything else is a crash
        return
    assert found.kind in critic_file.MODELS


def test_files_that_are_too_large_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"cannot read the fitted critic .*: No such file or directory"):
        load(tmp_path / "none")
    with pytest.raises(InputError, match=r"cannot read the fitted critic .*: Is a directory"):
        load(tmp_path)
    monkeypatch.setattr(critic_file, "LARGEST", 100)
    assert refused(tmp_path, written()) == "it is larger than 100 bytes"


def test_a_critic_is_named_by_kind_or_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_bytes(b"")
    known("mine")
    for name in KINDS:
        known(name)
    with pytest.raises(UnknownNameError, match="no critic named 'other'; known: best, compatible, ridge"):
        known("other")
    for name in ("./other", "other.critic", f"..{os.sep}x", "a/\0"):
        with pytest.raises(InputError, match=r"cannot read the fitted critic .*: no such file"):
            known(name)


def test_another_process_writes_the_same_bytes() -> None:
    program = (
        "import sys; from tests.build import batch_of; from tests.critics.worlds import desk; "
        "from trajcredit.critics import fit, to_bytes; "
        "sys.stdout.buffer.write(to_bytes(fit(batch_of(*desk(groups=8, rollouts=3)), 'compatible')))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment)
    assert found.stdout == written()
