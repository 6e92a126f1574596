"""python -m tests.hostile.explode CASE: build the graph of one hostile transcript, print what it took as JSON.

A process of its own, so that its peak of memory is that of the graph.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from trajcredit.graph import build_graphs
from trajcredit.model import Span, Trajectory

__all__ = ["CASES"]


def call(turn: int, name: str, **arguments: str) -> Span:
    return Span("tool_call", turn, name=name, arguments=arguments, arguments_raw=json.dumps(arguments))


def same_values() -> Trajectory:
    """5,000 spans that all hold the same ten values."""
    values = " ".join(f"ZQ-77{k}41X" for k in range(10))
    spans = [Span("user", -1, text=values)]
    for k in range(2500):
        spans += [call(k, "look", q=values), Span("tool_result", k, text=f"{k} {values}", result_of=len(spans))]
    return Trajectory(id="same", spans=spans)


def shown_and_used() -> Trajectory:
    """Ten values that 1,250 results show unasked, and 1,250 calls that use all ten."""
    values = " ".join(f"ZQ-77{k}41X" for k in range(10))
    spans = [Span("user", -1, text="go")]
    for k in range(1250):
        spans += [call(2 * k, "list"), Span("tool_result", 2 * k, text=f"{k} {values}", result_of=len(spans))]
        spans += [call(2 * k + 1, "look", q=values), Span("tool_result", 2 * k + 1, text="fine", result_of=len(spans))]
    return Trajectory(id="used", spans=spans)


def one_result(text: str) -> Trajectory:
    """One large result, and a call that uses its last value."""
    shown = [Span("user", -1, text="go"), call(0, "fetch"), Span("tool_result", 0, text=text, result_of=1)]
    return Trajectory(id="one", spans=[*shown, call(1, "look", q=text.split()[-1])])


CASES: dict[str, Callable[[], Trajectory]] = {
    "ten values in 5,000 spans": same_values,
    "ten values shown and used": shown_and_used,
    "5 MB in one result": lambda: one_result(" ".join(f"v{k:06x}" for k in range(625_000))),
    "100,000 values of one letter": lambda: one_result(json.dumps([chr(97 + k % 26) for k in range(100_000)]) + " x"),
}


def peak() -> int:
    """Most bytes of memory that this process held, not those of the one it was started from."""
    status = Path("/proc/self/status")
    if status.exists():
        kib = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kib) << 10
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main(case: str) -> None:
    build_graphs([Trajectory(id="warm", spans=[Span("user", -1, text="go"), call(0, "look", q="GH-61220")])])
    trajectory = CASES[case]()
    start = time.perf_counter()
    (graph,) = build_graphs([trajectory])
    seconds = time.perf_counter() - start
    sources: dict[tuple[int, str], set[int]] = defaultdict(set)
    for edge, parent, child in graph.edges():
        for match in graph.evidence(edge).matches:
            sources[child, match.child_text].add(parent)
    most = max((len(parents) for parents in sources.values()), default=0)
    found = {"seconds": seconds, "bytes": peak(), "spans": len(trajectory.spans), "edges": len(graph), "sources": most}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
