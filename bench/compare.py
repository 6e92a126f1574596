"""Two records of bench/history.jsonl held against each other: what got worse by more than 15 percent.

    python bench/compare.py [OLD NEW] [--history FILE]

OLD and NEW are numbers of lines from 1, or from the end (-1 is the last); without them the last two quiet records of
one machine, made from the same log. Exit code 1 where something got worse, 2 where there is nothing to compare.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HISTORY = Path(__file__).parent / "history.jsonl"
WORSE = 0.15


def worsened(old: Mapping[str, Any], new: Mapping[str, Any]) -> float:
    """By which part a measure got worse; negative where it got better."""
    before, now = float(old["value"]), float(new["value"])
    return now / before - 1 if new["better"] == "lower" else before / now - 1


def pair(records: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The last two quiet records of one machine and log; none where there are not two."""
    quiet = [one for one in records if one["quiet"]]
    if not quiet:
        return None
    new = quiet[-1]
    like = [one for one in quiet[:-1] if (one["machine"], one["log"]) == (new["machine"], new["log"])]
    return (like[-1], new) if like else None


def lines(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """A line a measure that both have, and whether it got worse."""
    before = {one["name"]: one for one in old["measures"]}
    for one in new["measures"]:
        if one["name"] not in before:
            yield f"  {one['name']}: new, {one['value']:.2f} {one['unit']}", False
            continue
        by = worsened(before[one["name"]], one)
        word = "WORSE" if by > WORSE else "better" if by < -WORSE else "same"
        yield (
            f"  {one['name']}: {before[one['name']]['value']:.2f} -> {one['value']:.2f} {one['unit']}, {word}",
            by > WORSE,
        )
    for name in before.keys() - {one["name"] for one in new["measures"]}:
        yield f"  {name}: not measured any more", False


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="*", type=int, metavar="OLD NEW")
    parser.add_argument("--history", type=Path, default=HISTORY)
    options = parser.parse_args()
    if len(options.lines) not in (0, 2):
        parser.error("expected two lines, or none")
    text = options.history.read_text(encoding="utf-8") if options.history.exists() else ""
    records = [json.loads(line) for line in text.splitlines() if line.strip()]
    if options.lines:
        if any(not (0 < abs(k) <= len(records)) for k in options.lines):
            print(f"{options.history.name} has {len(records)} records")
            return 2
        found = tuple(records[k - 1 if k > 0 else k] for k in options.lines)
        old, new = found
    else:
        chosen = pair(records)
        if chosen is None:
            print("no two quiet records of one machine and log: nothing to compare")
            return 2
        old, new = chosen
    for one in (old, new):
        quiet = "" if one["quiet"] else ", NOT QUIET"
        print(f"{one['at']} {one['commit']}, {one['machine']['cpu']}, load {one['load'][0]}{quiet}")
    told = list(lines(old, new))
    print(*(line for line, _ in told), sep="\n")
    worse = sum(bad for _, bad in told)
    print(f"{worse} of {len(told)} got worse by more than {WORSE:.0%}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
