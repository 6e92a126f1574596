"""What the forecasts of a stored run's critic follow from."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec

from trajcredit import critics
from trajcredit.store.batches import Loaded
from trajcredit.store.runs import Run

__all__ = ["fingerprint"]

LENGTH = 12


def fingerprint(run: Run, critic: str, loaded: Loaded) -> str:
    """A hash of what a critic's forecasts follow from, beside the code version of the run.

    That is the critic and its code, the trajectories in their order (an id of ours never gets other content), which
    rewards there were, and how the run was to read them and to make groups.
    """
    asked = (loaded.ids, loaded.watermark, run.asked.reward, run.asked.group_by)
    return sha256(msgspec.json.encode((critic, _code(), asked))).hexdigest()[:LENGTH]


@cache
def _code() -> str:
    """A hash of the sources of all critics."""
    folder = Path(critics.__file__).parent
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
