"""Compiled kernels are kept, and never run on after their source, or that of a kernel they call, has changed."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import pytest

import trajcredit
from trajcredit.kernels import jit as jit_module
from trajcredit.kernels.jit import jit

PACKAGE = Path(trajcredit.__file__).parent
RUN = "import numpy as np; from trajcredit.graph.text import collect; from trajcredit.kernels import scan;"
COUNT = (
    "b = collect(['AB-1234']); t = np.zeros((9, scan.COLUMNS), np.int32); scan.scan(b.data, b.offsets, t, "
    "np.zeros(2, np.int64)); print(t[0, scan.BITS])"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package in a folder of its own, to be changed."""
    shutil.copytree(PACKAGE, tmp_path / "trajcredit", ignore=shutil.ignore_patterns("__pycache__", "web"))
    return tmp_path


def run(folder: Path, code: str, **environment: str) -> str:
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"PYTHONPATH": str(folder)} | environment
    env["NUMBA_OPT"] = "1"  # what is compiled here runs once
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_change_in_a_called_kernel_is_seen(copy):
    """numba itself looks only at the file of the function that is called: words.py here, behind scan.py."""
    assert run(copy, RUN + COUNT) == "2400"
    words = copy / "trajcredit" / "kernels" / "words.py"
    words.write_text(words.read_text().replace("min(40.0, 4.0 * (letters + digits))", "1.0"))
    assert run(copy, RUN + COUNT) == "100"


def test_where_nothing_can_be_written_kernels_are_compiled_and_not_kept(copy, tmp_path):
    nowhere = tmp_path / "file"
    nowhere.write_text("")  # no folder can be made below a file, not even by root
    code = "from trajcredit.kernels.jit import KEPT_IN; print(KEPT_IN)"
    assert run(copy, code, NUMBA_CACHE_DIR=str(nowhere)) == "None"
    assert run(copy, RUN + COUNT, NUMBA_CACHE_DIR=str(nowhere)) == "2400"


# ---------------------------------------------------------------- folders of other versions

NOW, WEEK = 1_500_000_000.0, jit_module.IDLE
OLD, OTHER = "trajcredit-0123456789abcdef", "trajcredit-fedcba9876543210"
HOLD = "import sys; from pathlib import Path; from trajcredit.kernels import jit;"
IN_USE = "jit._hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"


def kept(parent: Path, name: str, idle: float, *, lock: bool = True) -> Path:
    """A folder of compiled code that was last used so many seconds ago, by a version that locks its own or does not."""
    folder = parent / name
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "code.nbc").write_bytes(b"machine code")
    if lock:
        (folder / jit_module.LOCK).touch()
    for path in (folder / jit_module.LOCK, folder) if lock else (folder,):
        os.utime(path, (NOW - idle, NOW - idle))
    return folder


@pytest.mark.parametrize(
    ("name", "idle", "lock", "stays"),
    [
        pytest.param(OLD, WEEK + 1, True, False, id="unused for more than a week"),
        pytest.param(OLD, WEEK - 60, True, True, id="used within a week"),
        pytest.param(OLD, WEEK + 1, False, False, id="of a version that locked nothing, and old"),
        pytest.param(OLD, WEEK - 60, False, True, id="of a version that locked nothing, and recent"),
        pytest.param("trajcredit-notes", 9 * WEEK, True, True, id="another name"),
        pytest.param("other-0123456789abcdef", 9 * WEEK, True, True, id="of another program"),
        pytest.param("trajcredit-gone-0123456789abcdef-77", 0, True, False, id="left half removed"),
        pytest.param(OTHER, 9 * WEEK, True, True, id="our own"),
    ],
)
def test_only_folders_that_nobody_used_for_a_week_are_removed(tmp_path, name, idle, lock, stays):
    folder = kept(tmp_path, name, idle, lock=lock)
    jit_module._prune(tmp_path, tmp_path / OTHER, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ([name] if stays else [])
    assert not stays or (folder / "kernels" / "code.nbc").read_bytes() == b"machine code"


def test_a_folder_that_a_process_uses_is_never_removed(tmp_path):
    folder = kept(tmp_path, OLD, 0)
    command = [sys.executable, "-c", HOLD + IN_USE, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        os.utime(folder / jit_module.LOCK, (NOW - 9 * WEEK,) * 2)  # it may run for longer than a week
        jit_module._prune(tmp_path, tmp_path / OTHER, NOW)
        assert (folder / "kernels" / "code.nbc").exists()
        other.communicate("")
    os.utime(folder / jit_module.LOCK, (NOW - 9 * WEEK,) * 2)
    jit_module._prune(tmp_path, tmp_path / OTHER, NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_start_is_noted_and_finds_its_folder_though_it_is_removed_meanwhile(tmp_path, monkeypatch):
    folder = kept(tmp_path, OLD, 9 * WEEK)
    lock = fcntl.flock
    moved: list[Path] = []

    def late(file: int, how: int) -> None:
        if not moved:  # another process had the lock, and moved the folder away
            moved.append(folder.rename(tmp_path / "gone"))
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    held = jit_module._hold(folder)
    try:
        assert os.path.samestat(os.fstat(held), os.stat(folder / jit_module.LOCK))
        assert os.fstat(held).st_mtime > NOW, "the start is noted"
        jit_module._prune(tmp_path, tmp_path / OTHER, time.time() + 9 * WEEK)
        assert (folder / jit_module.LOCK).exists(), "it is in use, however old"
    finally:
        os.close(held)


def test_whoever_starts_removes_what_others_left(copy, tmp_path):
    cache = tmp_path / "cache"
    old = kept(cache, OLD, 0)
    os.utime(old / jit_module.LOCK, (time.time() - 2 * WEEK,) * 2)
    kept_in = run(copy, "from trajcredit.kernels.jit import KEPT_IN; print(KEPT_IN)", NUMBA_CACHE_DIR=str(cache))
    assert [str(path) for path in cache.iterdir()] == [kept_in]
    assert kept_in != str(old)


def test_the_place_of_other_users_of_numba_stays_theirs():
    config: Any = numba.config
    before = config.CACHE_DIR
    jit(lambda x: x)
    assert before == config.CACHE_DIR
