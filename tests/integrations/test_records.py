"""Lines of an exported file: what is missing is named with its place."""

from __future__ import annotations

import pytest

from trajcredit.errors import InputError
from trajcredit.integrations.records import fit, named, numbers, records, trainer


def has_a(place, record):
    numbers(place, "a", [record["a"]])


def test_each_line_comes_with_its_place(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": 2, "b": 3}\n')
    assert list(records(path, "x", has_a)) == [(f"{path}:1", {"a": 1}), (f"{path}:2", {"a": 2, "b": 3})]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        pytest.param(b'{"a": 1', "not a JSON object", id="cut off"),
        pytest.param(b"[1]", "not a JSON object", id="a list"),
        pytest.param(b"\xff", "not a JSON object", id="no text"),
        pytest.param(b"[" * 100_000, "not a JSON object", id="nested without end"),
        pytest.param(b'{"a": "1"}', r"a\[0\] is '1': expected a finite number", id="text for a number"),
        pytest.param(
            b'{"a": 1e999}', r"a\[0\] is inf: expected a finite number|not a JSON", id="more than a float holds"
        ),
        pytest.param(b'{"b": 1}', "it has no 'a': expected a file of `trajcredit export --to x`", id="another file"),
    ],
)
def test_a_line_of_something_else_is_named(tmp_path, line, what) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line)
    with pytest.raises(InputError, match=what) as error:
        list(records(path, "x", has_a))
    assert str(error.value).startswith(f"{path}:2: ")


def test_no_file(tmp_path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*none: No such file"):
        list(records(tmp_path / "none", "x", has_a))


def test_a_line_of_another_shape_is_named(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InputError, match=r"a\.jsonl:1: it has other values .*: expected a file of"):
        list(records(path, "x", lambda place, record: record["a"]["b"]))


def test_a_record_is_found_again_by_text() -> None:
    named("here", {"id": "x"}, "id")
    with pytest.raises(InputError, match="here: id is 3: expected text"):
        named("here", {"id": 3}, "id")


def test_lists_in_parallel_have_one_length() -> None:
    fit("here", a=[1, 2], b=None, c="xy")
    with pytest.raises(InputError, match="here: lists of one length are expected: 2 a, 1 b"):
        fit("here", a=[1, 2], b=[1])


def test_a_trainer_that_is_not_there_says_what_to_install() -> None:
    with pytest.raises(InputError, match=r"no_such_trainer cannot be imported .*: this plug-in needs such-trainer==1"):
        trainer("no_such_trainer", "such-trainer==1")
