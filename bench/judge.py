"""Culprits that the rule judge finds in real failed runs, paired with flat credit and with `doubly_robust`.

    python bench/judge.py [BENCHES] [--write]

BENCHES is the folder that holds `blame`, ../shared/bench where none is given; without it nothing is measured. --write
puts the table into docs/judges.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import trajcredit as tc
from trajcredit.service import grading, plugins

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "judges.md"
BEGIN, END = "<!-- measured: judge -->", "<!-- end of measured -->"
MEASURES = ("acc@1", "tol3", "acc@3", "mrr", "spare")
TALK = ("rloo", "judge")
CALLS = (
    "doubly_robust:w=0,part=0.3",
    "judge:base=doubly_robust,mix=0.02",
    "judge:base=doubly_robust,mix=0.05",
    "judge:base=doubly_robust",
    "rloo",
    "judge",
)
"""The first is what differences are to."""


def main() -> None:
    """Measure, print, and with --write put it where it is read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("benches", nargs="?", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--write", action="store_true", help="into docs/judges.md")
    asked = parser.parse_args()
    blame = asked.benches / "blame"
    if not blame.is_dir():
        sys.exit(f"{asked.benches}: no folder `blame` in it: nothing measured")
    lines = list(table(blame))
    print(*lines, sep="\n")
    if asked.write:
        text = PAGE.read_text(encoding="utf-8")
        start = text.index(BEGIN) + len(BEGIN)
        measured = "\n" + "\n".join(lines) + "\n"
        PAGE.write_text(text[:start] + measured + text[text.index(END, start) :], encoding="utf-8")


def table(blame: Path) -> Iterator[str]:
    """One row a set of runs and an attributor."""
    heads = ("runs", "attributor", *(m if m == "mrr" else f"{m} %" for m in MEASURES), "acc@1, paired", "tol3, paired")
    yield f"| {' | '.join(heads)} |"
    yield "| --- |" + " --- |" * (len(heads) - 1)
    batch = tc.batch(tc.read(blame / "whowhen"))
    labels = grading.read_labels(blame / "whowhen" / "labels.jsonl")
    for subset, name in (("algo", "Who&When, generated"), ("hand", "Who&When, hand-written")):
        own = replace(labels, cases=tuple(c for c in labels.cases if c.tags.get("subset") == subset))
        yield from rows(name, batch, own, TALK)
    batch = tc.batch(tc.read(blame / "tau_airline" / "transcripts.jsonl"))
    yield from rows("tau_airline", batch, grading.read_labels(blame / "tau_airline" / "labels.jsonl"), CALLS)


def rows(name: str, batch: tc.Batch, labels: grading.Labels, specs: Sequence[str]) -> Iterator[str]:
    """The figures of each attributor, and its acc@1 and tol3 against the first."""
    choices = [replace(choice, label=spec) for choice, spec in zip(plugins.choose(specs), specs, strict=True)]
    own = grading.grade(batch, choices, labels)
    if own.failed:
        sys.exit(f"{own.failed[0].attributor}: {own.failed[0].reason}")
    found = own.tables[0]
    for spec, figures in found.figures.items():
        cells = [_cell(figures[m], 1 if m == "mrr" else 100) for m in MEASURES]
        against = found.differences.get(spec)
        paired = ["0" if against is None else _cell(against[m], 100, "+") for m in ("acc@1", "tol3")]
        yield f"| {name} ({found.n}) | `{spec}` | {' | '.join([*cells, *paired])} |"


def _cell(figure: grading.Figure, scale: int, sign: str = "") -> str:
    if math.isnan(figure.value):
        return ""
    digits = 3 if scale == 1 else 1
    value, low, high = (f"{scale * x:{sign}.{digits}f}" for x in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


if __name__ == "__main__":
    main()
