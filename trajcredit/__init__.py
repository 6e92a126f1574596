"""trajcredit: which call earned the reward. Agent logs in, per-span advantages out.

    import trajcredit as tc

    trajectories = tc.read("logs/*.json")
    batch = tc.batch(trajectories)
    credit = tc.attribute(batch, "dag", gamma=0.95)
    tc.export(credit, to="jsonl", out="advantages.jsonl")

Names are loaded on first use: importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajcredit.attributors import Attribution, Attributor, Term
    from trajcredit.errors import (
        GraphError,
        InputError,
        JudgeError,
        NotFoundError,
        ParseError,
        StoreError,
        TrajcreditError,
        UnknownNameError,
    )
    from trajcredit.graph import SpanGraph
    from trajcredit.model import Edge, Note, Reward, Span, Tool, Trajectory
    from trajcredit.service.stateless import Batch, Credit, Reading, attribute, batch, export, read

__version__ = "0.1.0"

__all__ = [
    "Attribution",
    "Attributor",
    "Batch",
    "Credit",
    "Edge",
    "GraphError",
    "InputError",
    "JudgeError",
    "NotFoundError",
    "Note",
    "ParseError",
    "Reading",
    "Reward",
    "Span",
    "SpanGraph",
    "StoreError",
    "Term",
    "Tool",
    "TrajcreditError",
    "Trajectory",
    "UnknownNameError",
    "__version__",
    "attribute",
    "batch",
    "export",
    "read",
]

_HOMES = {
    "attributors": ("Attribution", "Attributor", "Term"),
    "errors": (
        "GraphError",
        "InputError",
        "JudgeError",
        "NotFoundError",
        "ParseError",
        "StoreError",
        "TrajcreditError",
        "UnknownNameError",
    ),
    "graph": ("SpanGraph",),
    "model": ("Edge", "Note", "Reward", "Span", "Tool", "Trajectory"),
    "service.stateless": ("Batch", "Credit", "Reading", "attribute", "batch", "export", "read"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, from the module it lives in, kept once it is found."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'trajcredit' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"trajcredit.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
