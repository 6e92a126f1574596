"""Every stage of the main job as a ratio to json-decoding the same bytes, at once and ten times over.

    python bench/pipeline.py [LOG] [--rounds 7] [--times 10]

LOG is a tau-bench or OpenAI chat log (.gz allowed); without one, a log of the same shape and size as tau-bench airline
is made up. Ten times it is ten copies, each with its capital letters shifted, so that no text is read twice for the
price of one. Rounds are interleaved, garbage is collected before each timing, kernels are warm; the median is shown. On
a machine with a load above 1.5 the ratios are printed but say nothing.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import random
import statistics
import string
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from trajcredit.batching import Batch, pack
from trajcredit.exporters import Credit
from trajcredit.formats import Document, Record, decoded
from trajcredit.formats.nesting import may_nest_too_deep
from trajcredit.formats.openai_chat import decode_row as decode_chat
from trajcredit.formats.reading import read_source
from trajcredit.formats.siblings import Siblings
from trajcredit.formats.sources import Source
from trajcredit.formats.tau_bench import decode_row as decode_tau
from trajcredit.graph import SpanGraph, build_graphs
from trajcredit.model import Trajectory
from trajcredit.registry import exporters
from trajcredit.service.plugins import choose

SCORED = choose(["broadcast", "rtg", "moving_average", "grpo", "rloo", "gae:values=zero", "dag"])
SOURCE = Source("log.json", Path("log.json"), siblings=Siblings(Path(), Path()))
"""A file, as the main job has it; what came over the network is looked at for its `depth` besides."""
BUDGETS = {
    "decode": 0.5,
    "read": 0.6,
    "graph": 5.0,
    "score": 0.1,
    "export parquet": 0.2,
    "whole": 8.0,
}
"""perf.md: decode and read 0.5 + 0.6, seven attributors 0.1, parquet of one attributor 0.2, the whole pipeline 8."""


@dataclass
class Run:
    """The stages of one log, each with what the one before it made."""

    data: bytes
    decode: Callable[[Any], Any]

    def stages(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Name and work of every stage, in order; a stage runs on what is kept from the last."""
        yield "json", lambda: json.loads(self.data)
        yield "decode", self._decode
        yield "decode + read", self._read
        yield "graph", lambda: setattr(self, "graphs", build_graphs(self.trajectories))
        yield "batch", lambda: setattr(self, "batch", pack(self.graphs))
        yield "score", self._score
        yield "export parquet", lambda: self._export("parquet")
        yield "export jsonl", lambda: self._export("jsonl")
        yield "depth", lambda: may_nest_too_deep(self.data, lines=False)

    trajectories: list[Trajectory] = field(default_factory=list)
    graphs: list[SpanGraph] = field(default_factory=list)
    batch: Batch | None = None
    credits: list[Credit] = field(default_factory=list)
    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)

    def forget(self) -> None:
        """Drop what the last round made, so that no stage pays for freeing it."""
        self.trajectories, self.graphs, self.batch, self.credits = [], [], None, []

    def _decode(self) -> None:
        document = Document("log.json", self.data, siblings=SOURCE.siblings)
        for record in document.records:
            assert isinstance(record, Record)
            decoded(document, record, self.decode)

    def _read(self) -> None:
        found = list(read_source(SOURCE, self.data))
        assert all(isinstance(t, Trajectory) for t in found)
        self.trajectories = [t for t in found if isinstance(t, Trajectory)]

    def _score(self) -> None:
        batch = self.batch
        assert batch is not None
        found = [(choice.label, choice.attributor(batch)) for choice in SCORED]
        self.credits = [Credit(batch, name, {}, f.credit, f.advantage, f.notes) for name, f in found]

    def _export(self, to: str) -> None:
        self.file.seek(0)
        self.file.truncate()
        exporters.get(to)()(self.credits[-1:], self.file)


def measured(data: bytes, rounds: int) -> dict[str, float]:
    """Median seconds of each stage, rounds interleaved."""
    document = Document("log.json", data)
    run = Run(data, decode_tau if "traj" in document.keys else decode_chat)
    times: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        run.forget()
        for name, work in run.stages():
            gc.collect()
            start = time.perf_counter()
            work()
            if number:  # the first round warms up
                times.setdefault(name, []).append(time.perf_counter() - start)
    found = {name: statistics.median(values) for name, values in times.items()}
    found["read"] = found.pop("decode + read") - found["decode"]
    found["whole"] = sum(v for k, v in found.items() if k not in ("json", "export jsonl", "depth"))
    return found


def shifted(rows: list[Any], times: int) -> bytes:
    """The rows so many times over, every copy with its capitals shifted: other names and ids, the same structure."""
    copies = []
    letters = string.ascii_uppercase
    for k in range(times):
        table = str.maketrans(letters, letters[k:] + letters[:k])
        for row in rows:
            moved = json.loads(json.dumps(row))
            for message in moved.get("traj", moved.get("messages")):
                if isinstance(message.get("content"), str):
                    message["content"] = message["content"].translate(table)
                for call in message.get("tool_calls") or []:
                    call["function"]["arguments"] = call["function"]["arguments"].translate(table)
            for key in ("task_id", "trajectory_id", "group_id"):
                if key in moved:
                    moved[key] = f"{k}-{moved[key]}"
            copies.append(moved)
    return json.dumps(copies).encode()


def made_up(n: int = 200) -> list[Any]:
    """Runs of the shape of tau-bench airline: a long system prompt, calls with JSON results, small talk."""
    draw = random.Random(0)

    def word() -> str:
        return "".join(draw.choices(string.ascii_lowercase, k=draw.randint(3, 9)))

    def name() -> str:
        return "".join(draw.choices(string.ascii_uppercase + string.digits, k=6))

    policy = " ".join(word() for _ in range(1000))
    rows = []
    for i in range(n):
        known = [name() for _ in range(4)]
        traj: list[Any] = [
            {"role": "system", "content": policy},
            {"role": "user", "content": f"Hello, my id is {known[0]}."},
        ]
        for k in range(draw.randint(6, 20)):
            used = draw.sample(known, 2)
            call = {
                "id": f"c{k}",
                "type": "function",
                "function": {"name": f"get_{word()}", "arguments": json.dumps({"id": used})},
            }
            known += [name() for _ in range(6)]
            rows_of = [{"ref": r, "price": draw.randint(90, 999), "city": word()} for r in known[-6:]]
            traj.append({"role": "assistant", "content": None, "tool_calls": [call]})
            traj.append(
                {"role": "tool", "tool_call_id": f"c{k}", "name": "x", "content": json.dumps({"rows": rows_of})}
            )
            if draw.random() < 0.5:
                traj.append(
                    {"role": "assistant", "content": f"I found {known[-1]} for ${draw.randint(90, 999)}. {word()}?"}
                )
                traj.append({"role": "user", "content": " ".join(word() for _ in range(20))})
        rows.append({"task_id": i // 4, "trial": i % 4, "reward": float(draw.random() < 0.4), "info": {}, "traj": traj})
    return rows


def main() -> None:
    """Print the table for one log and for many times it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    if options.log is None:
        raw = json.dumps(made_up()).encode()
    else:
        raw = options.log.read_bytes()
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores; ratios to json.loads of the same bytes")
    for times in (1, options.times):
        data = raw if times == 1 else shifted(json.loads(raw), times)
        found = measured(data, options.rounds if times == 1 else max(5, options.rounds // 2))
        print(f"\n{len(data) / 1e6:.1f} MB, json.loads {1e3 * found['json']:.1f} ms")
        for name in ("decode", "read", "graph", "batch", "score", "export parquet", "export jsonl", "whole", "depth"):
            budget = f"budget {BUDGETS[name]:g}" if name in BUDGETS else ""
            print(f"  {name:<15} {found[name] / found['json']:7.2f} x json   {1e3 * found[name]:8.1f} ms   {budget}")


if __name__ == "__main__":
    main()
