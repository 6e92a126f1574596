"""What the forecasts of a stored run's critic follow from."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from trajcredit import critics
from trajcredit.store.batches import Loaded
from trajcredit.store.runs import Run

__all__ = ["fingerprint"]

LENGTH = 12


def fingerprint(run: Run, critic: str, loaded: Loaded) -> str:
    """A hash of what a critic's forecasts follow from, beside the code version of the run.

    That is the critic and its code, the trajectories in their order (an id of ours never gets other content), which
    rewards there were, how the run was to read them and to make groups, and which edges people had edited.
    """
    asked = (loaded.ids, loaded.watermark, run.asked.reward, run.asked.group_by)
    edited = (loaded.overridden,) if loaded.overridden else ()
    return sha256(msgspec.json.encode((critic, critics.code_hash(), asked, *edited))).hexdigest()[:LENGTH]
