"""The kernels made ready before somebody waits for them: on a new machine the first upload would compile them."""

from __future__ import annotations

import logging

from trajcredit.batching import pack
from trajcredit.graph import build_graphs
from trajcredit.model import Reward, Span, Trajectory
from trajcredit.service.attributing import scored
from trajcredit.service.plugins import choose

__all__ = ["warm"]

_log = logging.getLogger(__name__)


def warm() -> None:
    """Build a graph and score it; what fails here is told where it fails for somebody."""
    spans = [
        Span("user", -1, text="go to QX-7741"),
        Span("tool_call", 0, name="look", arguments={"id": "QX-7741"}, arguments_raw='{"id": "QX-7741"}'),
        Span("tool_result", 0, text='{"next": "ZT-1188"}', result_of=1),
        Span("assistant", 1, text="ZT-1188"),
    ]
    pair = [Trajectory(id=name, group="g", rewards=[Reward(r)], spans=spans) for name, r in (("a", 0.0), ("b", 1.0))]
    try:
        batch = pack(build_graphs(pair))
        for choice in choose(["grpo", "dag"]):
            scored(batch, choice.label, choice.attributor)
    except Exception:  # a thread of its own: nobody could catch it
        _log.exception("the kernels could not be made ready")
