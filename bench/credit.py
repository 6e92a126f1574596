"""What each attributor measured on runs whose true advantages or culprits are known: the tables of docs/credit.md.

    python bench/credit.py [BENCHES] [--write]

BENCHES is the folder that holds `oracle` and `blame`, ../shared/bench where none is given; without it nothing is
measured. `--write` puts the tables into docs/credit.md and the oracle figures into the module that `trajcredit advise`
reads. Labels are read by the scorer of the bench and by `trajcredit.service.grading`, never by an attributor.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import trajcredit as tc
from trajcredit.errors import TrajcreditError
from trajcredit.service import attributing, grading, plugins
from trajcredit.service.grading_measured import COLUMNS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "credit.md"
MODULE = ROOT / "trajcredit" / "service" / "grading_measured.py"
BEGIN, END = "<!-- measured: {} -->", "<!-- end of measured -->"
DRAWS = 1000
WIDTH = 120
"""Characters of a line of the module, beyond which the formatter breaks it."""
SETTINGS = (
    "grpo",
    "broadcast",
    "rtg",
    "moving_average",
    "rloo",
    "dag",
    "dag:off_path=0.1",
    "dag:off_path=0.3",
    "dag:soft=true,off_path=0.1",
    "tree",
    "tree:kind=jump",
    "gigpo",
    "shapley",
    "novelty:bonus=0.1",
    "value",
    "rudder",
    "rudder:critic=compatible",
    "gae:critic=compatible",
    "gae:critic=sequence",
    "doubly_robust:w=0,critic=sequence",
    "doubly_robust:w=0,part=0.3,critic=sequence",
    "doubly_robust:w=0,part=0.3,critic=best",
    "doubly_robust:w=0,part=0.3",
    "doubly_robust:w=0",
    "doubly_robust:w=1",
    "doubly_robust:update_size=64",
    "doubly_robust",
    "doubly_robust:update_size=1024",
)
"""The first is what differences are to; attributors that are not among them are measured at their defaults."""
TREE = (
    ("a logged critic whose error is clearly below the spread of returns; long or dense episodes", "gae"),
    ("the same, short episodes: returns minus V", "gae:lam=1"),
    ("tasks that share tools, and a fitted critic that foretells outcomes out of fold", "doubly_robust"),
    ("to read blame or to find a culprit, whatever the critic is worth", "doubly_robust:w=0,part=0.3"),
    ("the same, many trajectories an update", "gae:critic=compatible"),
    ("siblings, most steps in states that a sibling came to", "gigpo"),
    ("siblings, calls that siblings made too: to read blame", "shapley"),
    ("siblings, calls on no path to the outcome; few trajectories an update", "dag:off_path=0.3"),
    ("siblings and nothing else", "rloo"),
    ("one rollout a task", "moving_average"),
)
"""What is found -> what it leads to."""
SIZES = ("64", "256", "1024")


def main() -> None:
    """Measure, print, and with --write put it where it is read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("benches", nargs="?", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--write", action="store_true", help="into docs/credit.md and the module of figures")
    asked = parser.parse_args()
    if not (asked.benches / "oracle").is_dir():
        sys.exit(f"{asked.benches}: no folder `oracle` in it: nothing measured")
    specs = settings()
    choices = [replace(choice, label=spec) for choice, spec in zip(plugins.choose(specs), specs, strict=True)]
    oracle = Oracle(asked.benches / "oracle", choices)
    parts = {
        "oracle": list(oracle.table()),
        "oracle against grpo": list(oracle.differences()),
        "oracle by family": list(oracle.by_family()),
        "tree": list(oracle.tree()),
    }
    for name in ("tau_airline", "whowhen"):
        parts[name] = list(blame_table(asked.benches / "blame" / name, choices))
    for name, lines in parts.items():
        print(f"\n{name}\n", *lines, sep="\n")
    if asked.write:
        text = PAGE.read_text(encoding="utf-8")
        for name, lines in parts.items():
            text = with_part(text, name, lines)
        PAGE.write_text(text, encoding="utf-8")
        MODULE.write_text(module_text(MODULE.read_text(encoding="utf-8"), oracle.figures()), encoding="utf-8")


def settings() -> list[str]:
    """SETTINGS, and every other attributor there is."""
    named = {spec.partition(":")[0] for spec in SETTINGS}
    return [*SETTINGS, *(plugin.name for plugin in plugins.attributors() if plugin.name not in named)]


def with_part(text: str, name: str, lines: Sequence[str]) -> str:
    """The page with the lines between the markers of that name."""
    start = text.index(BEGIN.format(name)) + len(BEGIN.format(name))
    return text[:start] + "\n" + "\n".join(lines) + "\n" + text[text.index(END, start) :]


def module_text(text: str, figures: dict[str, list[float]]) -> str:
    """The module of figures with these, laid out as the formatter does."""
    rows = [_laid_out(name, row) for name, row in figures.items()]
    head = text[: text.index("MEASURED: ")]
    return f"{head}MEASURED: dict[str, tuple[float, ...]] = {{\n" + "\n".join(rows) + "\n}\n"


def _laid_out(name: str, row: Sequence[float]) -> str:
    line = f'    "{name}": ({", ".join(map(str, row))}),'
    if len(line) <= WIDTH:
        return line
    return "\n".join([f'    "{name}": (', *(f"        {value}," for value in row), "    ),"])


# ---------------------------------------------------------------- the oracle bench


class Oracle:
    """Every setting scored once on the oracle bench, graded by its own scorer and by the service."""

    def __init__(self, folder: Path, choices: Sequence[plugins.Choice]) -> None:
        scorer = scorer_of(folder)
        truth = scorer.Labels(str(folder / "dev_labels.jsonl.gz"))
        batch = tc.batch(tc.read(folder / "dev.jsonl.gz"))
        filled: attributing.Filled = {}
        self.reports: dict[str, Any] = {}
        self.failed: dict[str, str] = {}
        advantages = {}
        for choice in choices:
            try:
                credit = attributing.scored(batch, choice.label, choice.attributor, choice.critic, filled)
            except TrajcreditError as error:
                self.failed[choice.label] = str(error)
                continue
            predicted, missing, extra = truth.read_pred(rows_of(credit))
            if missing or extra:
                sys.exit(f"{choice.label}: {missing} labelled actions without a number, {extra} rows of no label")
            self.reports[choice.label] = scorer.score(truth, predicted, curve=False)
            advantages[choice.label] = credit.advantage
        labels = grading.read_labels(folder / "dev_labels.jsonl.gz")
        self.tables = grading.grade_advantages(batch, advantages, labels, DRAWS)

    def table(self) -> Iterator[str]:
        """The mean of families, one row a setting."""
        heads = ("pearson", "sign", "blame@1", "praise@1", "nmse", "cos 64 / 256 / 1024", "efficiency 64 / 256 / 1024")
        yield f"| attributor | {' | '.join(heads)} |"
        yield "| --- |" + " --- |" * len(heads)
        for name, row in self.figures().items():
            found = dict(zip(COLUMNS, row, strict=True))
            plain = (f"{found[key]:.3f}" for key in ("pearson", "sign", "blame@1", "praise@1", "nmse"))
            cosines = " / ".join(f"{found[f'cos {n}']:.3f}" for n in SIZES)
            gains = " / ".join(f"{found[f'efficiency {n}']:.2f}" for n in SIZES)
            yield f"| `{name}` | {' | '.join(plain)} | {cosines} | {gains} |"
        for name, reason in self.failed.items():
            yield f"| `{name}` | not measured: {reason.partition(':')[0]} | | | | | | |"

    def figures(self) -> dict[str, list[float]]:
        """Setting -> its figures in the order of COLUMNS."""
        found = {}
        for name, report in self.reports.items():
            macro = report["macro"]
            plain = [macro[key] for key in ("pearson", "sign_acc", "blame1", "praise1", "nmse")]
            cosines, gains = ([macro[key][n] for n in SIZES] for key in ("cos_model", "efficiency"))
            found[name] = [round(value, 3) for value in (*plain, *cosines, *gains)]
        return found

    def differences(self) -> Iterator[str]:
        """Each setting minus the first, paired, with intervals by groups."""
        [macro] = [table for table in self.tables if table.part == "macro"]
        yield from difference_rows(macro, ("pearson", "sign", "blame@1", "praise@1"))

    def tree(self) -> Iterator[str]:
        """Each leaf of the tree with what it measured."""
        yield "| what is found | then | pearson | blame@1 | efficiency 64 / 256 / 1024 |"
        yield "| --- | --- | --- | --- | --- |"
        figures = self.figures()
        for found, name in TREE:
            cells = ["not measured: no log here has a critic's values", "", ""]
            if name in figures:
                row = dict(zip(COLUMNS, figures[name], strict=True))
                gains = " / ".join(f"{row[f'efficiency {n}']:.2f}" for n in SIZES)
                cells = [f"{row['pearson']:.2f}", f"{row['blame@1']:.2f}", gains]
            yield f"| {found} | `{name}` | {' | '.join(cells)} |"

    def by_family(self) -> Iterator[str]:
        """Correlation and blame@1 in each family."""
        families = [table for table in self.tables if table.part == "family"]
        yield f"| pearson (blame@1) | {' | '.join(table.family or '' for table in families)} |"
        yield "| --- |" + " --- |" * len(families)
        for name in self.reports:
            cells = (
                f"{t.figures[name]['pearson'].value:.2f} ({t.figures[name]['blame@1'].value:.2f})" for t in families
            )
            yield f"| `{name}` | {' | '.join(cells)} |"


def scorer_of(folder: Path) -> Any:
    """The scorer that comes with the bench."""
    spec = importlib.util.spec_from_file_location("oracle_score", folder / "score.py")
    assert spec is not None
    assert spec.loader is not None
    scorer = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = scorer
    spec.loader.exec_module(scorer)
    return scorer


def rows_of(credit: tc.Credit) -> Iterator[dict[str, Any]]:
    """Actions as the scorer reads them."""
    batch = credit.batch
    for t, graph in enumerate(batch.graphs or ()):
        first = int(batch.span_offsets[t])
        for index, span in enumerate(graph.trajectory.spans):
            if not np.isnan(credit.advantage[first + index]):
                yield {
                    "trajectory_id": graph.trajectory.id,
                    "message_index": span.message_index,
                    "tool_call_id": span.call_id,
                    "advantage": float(credit.advantage[first + index]),
                }


# ---------------------------------------------------------------- the blame bench


def blame_table(folder: Path, choices: Sequence[plugins.Choice]) -> Iterator[str]:
    """Culprits found in the real failures, all and contested ones, and what each setting gains over the first."""
    logs = folder / "transcripts.jsonl" if (folder / "transcripts.jsonl").exists() else folder
    batch, labels = tc.batch(tc.read(logs)), grading.read_labels(folder / "labels.jsonl")
    contested = replace(labels, cases=tuple(c for c in labels.cases if c.tags.get("difficulty") == "contested"))
    tables = {"": grading.grade(batch, choices, labels, DRAWS)}
    if contested.cases:
        tables["contested "] = grading.grade(batch, choices, contested, DRAWS)
    found = {title: own.tables[0] for title, own in tables.items()}
    measures = [
        (title, m)
        for title, table in found.items()
        for m in ("acc@1", "acc@3", "mrr", "spare")
        if not math.isnan(table.figures[SETTINGS[0]][m].value) and (not title or m in ("acc@1", "spare"))
    ]
    yield f"| attributor | {' | '.join(title + m for title, m in measures)} | acc@1 minus `{SETTINGS[0]}` |"
    yield "| --- |" + " --- |" * (len(measures) + 1)
    rows: dict[str, list[str]] = {}
    for name in found[""].figures:
        cells = [interval(found[title].figures[name][m]) for title, m in measures]
        against = found[""].differences.get(name)
        cells.append("0" if against is None else interval(against["acc@1"], "+"))
        rows.setdefault(" | ".join(cells).replace("+0.000 [+0.000, +0.000]", "0"), []).append(f"`{name}`")
    for row, names in rows.items():
        yield f"| {', '.join(names)} | {row} |"
    for failed in tables[""].failed:
        yield f"| `{failed.attributor}` | not measured: {failed.reason.partition(':')[0]} |" + " |" * len(measures)
    yield from ("", said_of(batch, labels))


def said_of(batch: tc.Batch, labels: grading.Labels) -> str:
    """How many of the labelled runs any outcome can say something of."""
    spread = {name: set[float]() for name in batch.group_ids}
    for t, outcome in enumerate(batch.outcome.tolist()):
        spread[batch.group_ids[batch.group[t]]].add(outcome)
    group = {name: batch.group_ids[batch.group[t]] for t, name in enumerate(batch.trajectory_ids)}
    culprits = [case for case in labels.cases if case.culprit is not None]
    uniform = sum(len(spread[group[case.trajectory_id]]) == 1 for case in culprits)
    return (
        f"{len(culprits)} runs with a culprit; {uniform} of them are in groups all of whose rollouts failed alike, "
        f"where every baseline of the group leaves 0. {DRAWS:,} bootstrap draws over the groups."
    )


def difference_rows(table: grading.Table, measures: Sequence[str]) -> Iterator[str]:
    """One row an attributor but the first."""
    yield f"| minus `{SETTINGS[0]}` | {' | '.join(measures)} |"
    yield "| --- |" + " --- |" * len(measures)
    for name, figures in table.differences.items():
        yield f"| `{name}` | {' | '.join(interval(figures[m], '+') for m in measures)} |"


def interval(figure: grading.Figure, sign: str = "") -> str:
    """A figure with its interval."""
    return f"{figure.value:{sign}.3f} [{figure.low:{sign}.3f}, {figure.high:{sign}.3f}]"


if __name__ == "__main__":
    main()
