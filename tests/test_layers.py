"""The shape of the house: who imports whom, how long a file may be, that every module says what it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LONGEST = 400
FILES = [
    path for folder in ("trajcredit", "tests", "bench", "examples") for path in sorted((ROOT / folder).rglob("*.py"))
]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_import_contract_is_kept() -> None:
    # a process of its own: the linter turns off every logger it does not know
    command = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", FILES, ids=named)
def test_no_file_is_longer_than_400_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("path", FILES, ids=named)
def test_every_module_says_what_it_is_in_its_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not tree.body and path.name == "__init__.py" and path.is_relative_to(ROOT / "tests"):
        return
    sentence = ast.get_docstring(tree) or ""
    assert len(sentence.split()) >= 3
