"""The versions that a run stores: they change when the code that makes its numbers does, and only then."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from trajcredit import __version__
from trajcredit.service import versions
from trajcredit.service.versions import code_version, edge_version


def test_the_version_names_the_release_and_does_not_change_by_itself() -> None:
    assert code_version().startswith(f"{__version__}+")
    assert (code_version(), edge_version()) == (code_version(), edge_version())


@pytest.mark.parametrize(
    ("file", "code", "edges"),
    [
        ("attributors/grpo.py", True, False),
        ("batching/rewards.py", True, False),
        ("kernels/dag.py", True, True),
        ("arrays.py", True, True),
        ("graph/values.py", False, True),
        ("model.py", False, True),
        ("store/runs.py", False, False),
        ("cli/root.py", False, False),
    ],
)
def test_each_version_hangs_on_its_own_sources(
    file: str, code: bool, edges: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "trajcredit"
    shutil.copytree(versions.PACKAGE, copy, ignore=shutil.ignore_patterns("web", "data", "__pycache__"))
    monkeypatch.setattr(versions, "PACKAGE", copy)
    before = _versions()
    with (copy / file).open("a") as opened:
        opened.write("# another line\n")
    after = _versions()
    assert [a != b for a, b in zip(before, after, strict=True)] == [code, edges]


def _versions() -> tuple[str, str]:
    """As a process that has not asked yet would have them."""
    code_version.cache_clear()
    versions._hash.cache_clear()
    try:
        return code_version(), edge_version()
    finally:
        code_version.cache_clear()
        versions._hash.cache_clear()
