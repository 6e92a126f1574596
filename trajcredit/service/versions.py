"""Which code a run's numbers come from: the same version, the same bits."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from trajcredit import __version__

__all__ = ["code_version", "derived_by", "edge_version"]

PACKAGE = Path(__file__).parent.parent
SCORING = ("arrays.py", "attributors", "batching", "kernels")
EDGES = ("arrays.py", "graph", "kernels", "model.py")
LENGTH = 12


@cache
def code_version() -> str:
    """The release, and a hash of the sources that scoring runs through."""
    return f"{__version__}+{_hash(SCORING)}"


def edge_version(overridden: str = "") -> str:
    """A hash of the sources that derive dependency edges; where people said otherwise, also one of what they said."""
    return f"{_hash(EDGES)}+{overridden}" if overridden else _hash(EDGES)


def derived_by(version: str) -> str:
    """Of an edge version only the part that says which sources derived the edges."""
    return version.partition("+")[0]


@cache
def _hash(places: tuple[str, ...]) -> str:
    digest = sha256()
    for file in sorted(file for place in places for file in _files(PACKAGE / place)):
        digest.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:LENGTH]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else list(place.rglob("*.py"))
