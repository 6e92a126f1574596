"""The installed command as a process: streams, pipes, exit codes, terminals."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from trajcredit.service.demo import bundled

COMMAND = [sys.executable, "-m", "trajcredit.cli"]
FLIGHTS = str(bundled("wrong_flight.jsonl"))


def test_rows_go_to_standard_output_and_nothing_else_does() -> None:
    done = subprocess.run([*COMMAND, "score", FLIGHTS], capture_output=True, text=True, check=True, timeout=120)
    assert all(line.startswith('{"schema":"trajcredit.credit/1"') for line in done.stdout.splitlines())
    assert done.stderr.startswith("note: ")


@pytest.mark.parametrize("command", ["score", "show", "graph"])
def test_a_reader_that_leaves_early_is_no_failure(tmp_path: Path, command: str) -> None:
    log = tmp_path / "long.jsonl"
    line = Path(FLIGHTS).read_text().splitlines()[0]
    log.write_text("".join(line.replace("flight-1", f"flight-{n}") + "\n" for n in range(500)))
    piped = f"{sys.executable} -m trajcredit.cli {command} {log} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1
    assert "BrokenPipe" not in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unreadable_path_ends_with_two() -> None:
    done = subprocess.run([*COMMAND, "score", "no.json"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("error: nothing readable in no.json\n")


def test_a_disk_that_is_full_is_one_line(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    for name in ("full.jsonl", "full.parquet"):
        (tmp_path / name).symlink_to("/dev/full")
        done = subprocess.run(
            [*COMMAND, "score", FLIGHTS, "-o", name],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 2
        assert done.stderr.endswith(f"error: cannot write {name}: No space left on device\n")
        assert "Traceback" not in done.stderr


def test_where_no_kernel_can_be_kept_it_is_said_once_and_the_work_is_done(tmp_path: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("")  # no folder can be made below a file, not even by root
    done = subprocess.run(
        [*COMMAND, "attributors"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(nowhere)},
    )
    assert done.stdout.startswith("belief  ")
    [warning] = done.stderr.splitlines()
    assert warning.startswith("warning: no folder to keep compiled kernels in: every run compiles them again")
    assert warning.endswith("set NUMBA_CACHE_DIR to a folder that can be written to")


def test_text_that_the_terminal_cannot_write_is_escaped(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"id": "t", "messages": [{"role": "user", "content": "to \u6771\u4eac"}]}')
    done = subprocess.run(
        [*COMMAND, "show", str(log)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert r"to \u6771\u4eac" in done.stdout


def test_on_a_terminal_progress_is_shown_on_standard_error_and_wiped(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    out = tmp_path / "a.jsonl"
    running = subprocess.Popen([*COMMAND, "score", FLIGHTS, "-o", str(out)], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    stdout, _ = running.communicate(timeout=120)
    os.close(ours)
    assert running.returncode == 0
    assert stdout == b""
    assert b"compiles the kernels" in shown
    assert b"40 rows of 4 trajectories" in shown
    assert out.is_file()
