"""Where work is done: in this process, in a pool of processes, or on a Ray cluster; the same results in order.

What is worked on does not know where: an engine gets a function of a module and tasks that can be pickled.
"""

from __future__ import annotations

from trajcredit.engines.base import ATTEMPTS, NAMES, Engine, engine

__all__ = ["ATTEMPTS", "NAMES", "Engine", "engine"]
