"""Files appear whole or not at all, and never in the place of a log."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from trajcredit.errors import InputError
from trajcredit.service.files import keep_apart, written_whole

LOG = '{"id": "a", "messages": [{"role": "user", "content": "?"}]}\n'
ROWS = '{"schema":"trajcredit.credit/1","trajectory_id":"a"}\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """logs/x.jsonl, logs/deep/y.jsonl and links to the first and to the folder, seen from the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("logs/deep").mkdir(parents=True)
    Path("logs/x.jsonl").write_text(LOG)
    Path("logs/deep/y.jsonl").write_text(LOG.replace("a", "b"))
    Path("link.jsonl").symlink_to("logs/x.jsonl")
    Path("others").symlink_to("logs")
    os.link("logs/x.jsonl", "twin.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    ("out", "paths"),
    [
        pytest.param("logs/x.jsonl", ["logs/x.jsonl"], id="the log itself"),
        pytest.param("./logs/../logs/x.jsonl", ["logs/x.jsonl"], id="another way to write it"),
        pytest.param("logs/x.jsonl", ["link.jsonl"], id="the log behind a link"),
        pytest.param("link.jsonl", ["logs/x.jsonl"], id="a link to the log"),
        pytest.param("twin.jsonl", ["logs/x.jsonl"], id="a hard link to the log"),
        pytest.param("others/x.jsonl", ["logs/x.jsonl"], id="through a link to its folder"),
        pytest.param("logs/x.jsonl", ["logs"], id="a log in a folder"),
        pytest.param("logs/deep/y.jsonl", ["others"], id="a log further down in a linked folder"),
        pytest.param("logs/x.jsonl", ["logs/*.jsonl"], id="a log that a pattern names"),
        pytest.param("logs/x.jsonl", ["nowhere.jsonl", "logs/deep", "logs/x.jsonl"], id="the last of many"),
    ],
)
def test_a_log_that_is_read_is_not_written(folder: Path, out: str, paths: list[str]) -> None:
    with pytest.raises(InputError, match=f"cannot write {Path(out)}: it is .*one of the logs to read"):
        keep_apart(Path(out), paths)


def test_the_log_is_named_where_it_goes_by_another_name(folder: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write link.jsonl: it is logs/x.jsonl, one of the logs to read"):
        keep_apart(Path("link.jsonl"), ["logs"])


@pytest.mark.parametrize(
    ("out", "paths"),
    [
        pytest.param("logs/new.jsonl", ["logs"], id="a new file in the folder"),
        pytest.param("logs/deep/y.jsonl", ["logs/x.jsonl"], id="another log"),
        pytest.param("nowhere/new.jsonl", ["logs"], id="a folder that is not there"),
        pytest.param("/dev/null", ["/dev/null", "logs"], id="a device"),
        pytest.param("logs", ["logs"], id="a folder"),
    ],
)
def test_what_is_not_read_may_be_written(folder: Path, out: str, paths: list[str]) -> None:
    keep_apart(Path(out), paths)


@pytest.mark.parametrize("rows", [ROWS.encode(), b"PAR1\x15\x04"], ids=["json lines", "parquet"])
def test_our_own_rows_of_last_time_may_be_written_again_but_not_where_they_are_named(folder: Path, rows: bytes) -> None:
    Path("logs/rows").write_bytes(rows)
    keep_apart(Path("logs/rows"), ["logs"])
    with pytest.raises(InputError, match="one of the logs"):
        keep_apart(Path("logs/rows"), ["logs/rows"])


def test_a_log_that_comes_in_by_standard_input_is_not_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("logs/x.jsonl").open() as log:
        monkeypatch.setattr("sys.stdin", log)
        with pytest.raises(InputError, match=r"cannot write twin.jsonl: it is stdin, one of the logs to read"):
            keep_apart(Path("twin.jsonl"), ["-"])
        keep_apart(Path("logs/deep/y.jsonl"), ["-"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("nowhere/a", "No such file or directory", id="a folder that is not there"),
        pytest.param("logs", "Is a directory", id="a folder"),
        pytest.param("logs/x.jsonl/a", "Not a directory", id="below a file"),
        pytest.param("a" * 300, "File name too long", id="too long a name"),
    ],
)
def test_a_file_that_cannot_be_written_says_so(folder: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"cannot write {name}: {reason}"), written_whole(Path(name)) as file:
        file.write(b"x")


def test_a_disk_that_fills_up_is_named_and_leaves_what_was_there(folder: Path) -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    assert after(fail) == (LOG, "cannot write logs/x.jsonl: No space left on device")


def test_an_error_that_is_not_of_the_disk_passes_and_leaves_what_was_there(folder: Path) -> None:
    def fail() -> None:
        raise InputError("the second attributor failed")

    assert after(fail) == (LOG, "the second attributor failed")


def after(fail: Callable[[], None]) -> tuple[str, str]:
    """What logs/x.jsonl holds and what is said, after writing to it failed half-way."""

    def write() -> None:
        with written_whole(Path("logs/x.jsonl")) as file:
            file.write(b"half")
            fail()

    with pytest.raises(InputError) as caught:
        write()
    assert sorted(os.listdir("logs")) == ["deep", "x.jsonl"]
    return Path("logs/x.jsonl").read_text(), str(caught.value)


def test_a_link_is_written_through_and_stays_a_link(folder: Path) -> None:
    with written_whole(Path("link.jsonl")) as file:
        file.write(b"new")
    assert Path("link.jsonl").is_symlink()
    assert Path("logs/x.jsonl").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    with written_whole(Path("/dev/null")) as file:
        file.write(b"gone")
    assert not Path("/dev/null").is_file()
