"""Compiled kernels are kept, and never run on after their source, or that of a kernel they call, has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

import trajcredit
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


def test_the_place_of_other_users_of_numba_stays_theirs():
    config: Any = numba.config
    before = config.CACHE_DIR
    jit(lambda x: x)
    assert before == config.CACHE_DIR
