"""How often edges are right, by family, kind and rule; what the graph costs; what repetition costs.

    python bench/edges.py [ORACLE] [--write] [--cost]

ORACLE is the folder of an oracle bench (`dev.jsonl.gz`, `dev_labels.jsonl.gz`, `score.py`), ../shared/bench/oracle
where none is given; without one its tables are skipped. Edges read by eye against real logs are counted in
edges_read.json: right, of all; a doubtful one counts half.
`--write` puts the tables into docs/edges.md; times are printed only, and with `--cost` nothing else is.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from trajcredit.formats import read_bytes
from trajcredit.graph import EDGE_KINDS, RULES, SpanGraph, build_graphs
from trajcredit.graph.evidence import CANDIDATE, CLAIM, ONE_OF_MANY, OUTDATED, RULE_CODES, SURE, SUREST
from trajcredit.model import Span, Trajectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the hostile transcripts, which the tests build too
CASES = importlib.import_module("tests.hostile.explode").CASES
reworded = importlib.import_module("bench.reworded").reworded
PAGE, READ = ROOT / "docs" / "edges.md", Path(__file__).with_suffix("").with_name("edges_read.json")
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
UNPROVEN = ", unproven"
"""Behind the name of a rule: its edges below CLAIM."""
MANY = "value, seen again since"
"""Value edges whose values later results showed again, or whose file the agent works on."""
VALUE_BANDS = {
    MANY: ONE_OF_MANY,
    "value" + UNPROVEN: OUTDATED,
    "value, under 12 bits": 0.91,
    "value, 12 or more bits": SURE,
    "value, 12 or more bits, said": 0.94,
}
CAP, PRIOR = 20, 4
"""Edges of one source that count at most, and edges' worth of the mean of all rules: a family is one witness."""
MOST_TIMES, MOST_SECONDS, MOST_MB, MOST_SOURCES = 1.5, 60.0, 500, 8

Counts = dict[str, dict[str, tuple[float, float]]]
"""Bin -> source -> edges that are right, edges."""

# ---------------------------------------------------------------- the oracle bench


class Oracle:
    """Transcripts with known parents, and the scorer that comes with them."""

    def __init__(self, folder: Path) -> None:
        spec = importlib.util.spec_from_file_location("oracle_score", folder / "score.py")
        assert spec is not None
        assert spec.loader is not None
        self.score: Any = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = self.score
        spec.loader.exec_module(self.score)
        self.labels = self.score.Labels(str(folder / "dev_labels.jsonl.gz"))
        self.lines = gzip.decompress((folder / "dev.jsonl.gz").read_bytes()).splitlines()

    def graphs(self, nameless: int) -> list[SpanGraph]:
        """Graphs with names as they are (0), with meaningless tool names (1), descriptions too (2), words too (3)."""
        data = b"\n".join(self.lines if not nameless else (rename(line, nameless) for line in self.lines))
        return build_graphs([t for t in read_bytes(data, "dev.jsonl") if isinstance(t, Trajectory)])

    def figures(self, graphs: list[SpanGraph], kinds: Iterable[str] = EDGE_KINDS) -> dict[str, Any]:
        """Precision, recall, F1 and ancestors by family, of edges of these kinds."""
        chosen = set(kinds)
        rows = (row for graph in graphs for row in edge_rows(graph) if row["kind"] in chosen)
        found: dict[str, Any] = self.score.score_edges(self.labels, rows)
        return found

    def judged(self, graphs: list[SpanGraph]) -> Iterator[tuple[str, str, str, bool, tuple[str, str, frozenset[str]]]]:
        """(family, bin, kind, right, (trajectory, child, group found)) of every edge that the labels judge."""
        for graph in graphs:
            known = {
                self.score.span(self.labels.acts[i]): self.labels.acts[i] for i in self.labels.of[graph.trajectory.id]
            }
            family = self.labels.fam[graph.trajectory.id]
            for row in edge_rows(graph):
                child, parent = name_of(row["child"]), name_of(row["parent"])
                if child == parent or child not in known or parent not in known:
                    continue
                true = groups_of(known[child])
                hit = next((g for g in true if parent in g), frozenset())
                if hit or parent not in known[child].get("neutral_parents", ()):
                    yield (
                        family,
                        bin_of(row["rule"], row["weight"]),
                        row["kind"],
                        bool(hit),
                        (graph.trajectory.id, child, hit),
                    )

    def groups(self) -> int:
        """True parents, interchangeable ones counted once."""
        return sum(len(groups_of(act)) for act in self.labels.acts)


def groups_of(act: dict[str, Any]) -> list[frozenset[str]]:
    """Interchangeable true parents of an action."""
    return [frozenset(group) for group in act.get("parent_groups") or [[p] for p in act["true_parents"]]]


def edge_rows(graph: SpanGraph) -> Iterator[dict[str, Any]]:
    """Edges as the scorer reads them."""
    spans = graph.trajectory.spans

    def end(i: int) -> dict[str, Any]:
        return {"message_index": spans[i].message_index, "tool_call_id": spans[i].call_id}

    for e, parent, child in graph.edges():
        yield {
            "trajectory_id": graph.trajectory.id,
            "child": end(child),
            "parent": end(parent),
            "weight": float(graph.weight[e]),
            "kind": EDGE_KINDS[graph.kind[e]],
            "rule": RULES[graph.rule[e]].name,
        }


def name_of(end: dict[str, Any]) -> str:
    """An action as the labels name it."""
    return end["tool_call_id"] or f"msg:{end['message_index']}"


def rename(line: bytes, nameless: int) -> bytes:
    """A transcript in which tool names, with 2 their descriptions, and with 3 all words say nothing."""
    if nameless == 3:
        return bytes(reworded(line))
    row = json.loads(line)

    def new(name: str) -> str:
        return "t" + hashlib.md5(name.encode()).hexdigest()[:4]

    known = set()
    for tool in row.get("tools") or ():
        function = tool.get("function", tool)
        known.add(function["name"])
        function["name"] = new(function["name"])
        function["description"] = "A tool." if nameless == 2 else function.get("description")
    for message in row["messages"]:
        for call in message.get("tool_calls") or ():
            known.add(call["function"]["name"])
            call["function"]["name"] = new(call["function"]["name"])
    for message in row["messages"]:
        if message.get("name") in known:
            message["name"] = new(message["name"])
    return json.dumps(row).encode()


# ---------------------------------------------------------------- calibration


def bin_of(rule: str, weight: float) -> str:
    """Edges whose weight is fitted together: a rule; of values a band of bits; what the texts do not bear out apart."""
    if rule == "value" and weight <= ONE_OF_MANY:
        return rule + UNPROVEN if weight < CLAIM else MANY
    if rule == "value":
        return f"value, {'under 12' if weight < SURE else '12 or more'} bits" + ", said" * (weight > SURE)
    return rule + UNPROVEN if weight < CLAIM <= RULES[RULE_CODES[rule]].weight else rule


def weight_of(name: str) -> str:
    """The weight that the graph gives to the edges of a bin."""
    if name.startswith("value,"):
        low = {"under 12 bits": f"to {SURE}", "12 or more bits": f"{SURE}"}
        low |= {MANY[7:]: f"{ONE_OF_MANY:.2f}", UNPROVEN[2:]: f"{OUTDATED:.2f}"}
        return low.get(name[7:], f"{SURE} to {SUREST}")
    weight = CANDIDATE if name.endswith(UNPROVEN) else RULES[RULE_CODES[name]].weight
    return f"{weight:.2f}"


def fitted(sources: dict[str, tuple[float, float]], mean: float, left_out: str = "") -> float:
    """Share right over sources, each counted as at most CAP edges, drawn to the mean by PRIOR edges."""
    right, total = PRIOR * mean, float(PRIOR)
    for source, (k, n) in sources.items():
        if source != left_out and n:
            right, total = right + min(n, CAP) * k / n, total + min(n, CAP)
    return right / total


def mean_of(counts: Counts, like: str, left_out: str = "") -> float:
    """Share right over the bins like this one and their sources: what is unproven, or what is not, bar the fallback."""
    bins = [b for b in counts if b != "context" and b.endswith(UNPROVEN) == like.endswith(UNPROVEN)]
    return statistics.fmean(k / n for b in bins for f, (k, n) in counts[b].items() if f != left_out and n)


def calibration(counts: Counts) -> Iterator[str]:
    """One row a bin, then how well weights fitted without a source foretell it."""
    yield "| edges | weight | worlds: right of all | read by eye: right of all | fitted | without one source |"
    yield "| --- | --- | --- | --- | --- | --- |"
    bands: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for name, sources in sorted(counts.items()):
        worlds = ", ".join(f"{f} {k:g}/{n:g}" for f, (k, n) in sorted(sources.items()) if not f.startswith("read "))
        eyes = ", ".join(f"{f[5:]} {k:g}/{n:g}" for f, (k, n) in sorted(sources.items()) if f.startswith("read "))
        without = {f: fitted(sources, mean_of(counts, name, f), f) for f in sources}
        for source, guess in without.items():
            k, n = sources[source]
            bands[min(9, int(10 * guess))].append((guess, k / n, min(n, CAP)))
        spread = f"{min(without.values()):.2f} to {max(without.values()):.2f}"
        fit = fitted(sources, mean_of(counts, name))
        yield f"| {name} | {weight_of(name)} | {worlds} | {eyes} | {fit:.2f} | {spread} |"
    yield ""
    yield "| foretold without the source | its edges (at most 20 of a rule) | mean foretold | right |"
    yield "| --- | --- | --- | --- |"
    for band, found in sorted(bands.items()):
        n = sum(count for *_, count in found)
        foretold, right = (sum(x[i] * x[2] for x in found) / n for i in (0, 1))
        yield f"| {band / 10:.1f} to {band / 10 + 0.1:.1f} | {n:g} | {foretold:.2f} | {right:.2f} |"


def by_weight(counts: Counts) -> Iterator[str]:
    """Of the edges that carry about one weight, how many are right: in the worlds, and of those read by eye."""
    yield "| weight | worlds: edges counted (at most 20 of a rule and source) | right | read by eye | right |"
    yield "| --- | --- | --- | --- | --- |"
    bands: dict[int, list[list[float]]] = defaultdict(lambda: [[0.0, 0.0], [0.0, 0.0]])
    for name, sources in counts.items():
        weight = VALUE_BANDS.get(name) or float(weight_of(name))
        for source, (k, n) in sources.items():
            found = bands[min(9, int(10 * weight + 1e-9))][source.startswith("read ")]
            found[0] += min(n, CAP) * k / n
            found[1] += min(n, CAP)
    for band, sums in sorted(bands.items()):
        cells = [f"{n:g} | {k / n:.2f}" if n else "0 |" for k, n in sums]
        yield f"| {band / 10:.1f} to {band / 10 + 0.1:.1f} | {' | '.join(cells)} |"


# ---------------------------------------------------------------- tables


def measured(oracle: Oracle) -> Iterator[str]:
    """Every table, as markdown."""
    graphs = oracle.graphs(0)
    yield from figures(oracle, graphs)
    counts: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    kinds: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    found: dict[str, set[Any]] = defaultdict(set)
    for family, name, kind, hit, place in oracle.judged(graphs):
        counts[name][family][0] += hit
        counts[name][family][1] += 1
        if name != "context" and not name.endswith(UNPROVEN):
            kinds[kind][0] += hit
            kinds[kind][1] += 1
            found[kind] |= {place} if hit else set()
    yield "\n| kind | claims judged | precision | share of all true parents found | F1 |"
    yield "| --- | --- | --- | --- | --- |"
    for kind, (right, n) in sorted(kinds.items()):
        precision, recall = right / n, len(found[kind]) / oracle.groups()
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        yield f"| {kind} | {n:g} | {precision:.3f} | {recall:.3f} | {f1:.3f} |"
    for name, sources in json.loads(READ.read_text()).items():
        for source, (k, n) in sources.items():
            counts[name][f"read {source}"] = [k, n]
    counted: Counts = {b: {f: (k, n) for f, (k, n) in s.items()} for b, s in counts.items()}
    yield ""
    yield from calibration(counted)
    yield ""
    yield from by_weight(counted)


def figures(oracle: Oracle, graphs: list[SpanGraph]) -> Iterator[str]:
    """Precision, recall, F1 and ancestors by family; then with names gone and kinds left out."""
    rows = {"as it is": oracle.figures(graphs)}
    titles = ("tool names meaningless", "names and descriptions meaningless", "every word meaningless")
    for nameless, title in enumerate(titles, 1):
        rows[title] = oracle.figures(oracle.graphs(nameless))
    rows["no state edges"] = oracle.figures(graphs, set(EDGE_KINDS) - {"state"})
    rows["values alone"] = oracle.figures(graphs, ("call", "value"))
    families = [name for name in rows["as it is"] if name not in ("overall", "macro")]
    yield "| family | precision | recall | F1 | ancestors of the last span |"
    yield "| --- | --- | --- | --- | --- |"
    for name in [*families, "macro"]:
        got = rows["as it is"][name]
        cells = (f"{got[k]:.3f}" for k in ("precision", "recall", "f1", "final_ancestor_jaccard"))
        yield f"| {name} | {' | '.join(cells)} |"
    yield from ("", f"| F1 | {' | '.join(families)} | macro |", "| --- |" + " --- |" * (len(families) + 1))
    for title, row in rows.items():
        yield f"| {title} | " + " | ".join(f"{row[name]['f1']:.3f}" for name in [*families, "macro"]) + " |"


# ---------------------------------------------------------------- cost


def chain(n: int, seed: int) -> Trajectory:
    """A transcript of n spans in which every call uses the id that the result before showed."""
    spans = [Span("user", -1, text=f"start at QX-{seed:05d}Z")]
    for k in range((n - 1) // 2):
        here, there = f"QX-{seed + k:05d}Z", f"QX-{seed + k + 1:05d}Z"
        spans.append(
            Span("tool_call", k, name="look_up", arguments={"id": here}, arguments_raw=json.dumps({"id": here}))
        )
        spans.append(
            Span("tool_result", k, text=f"{here} leads to {there} for {3 * k + 1234}", result_of=len(spans) - 1)
        )
    return Trajectory(id=f"chain-{seed}", spans=spans)


def mixed(n: int, seed: int) -> Trajectory:
    """A coding agent's transcript of n spans: reads, edits, searches, tests and commits, of one more file every 20."""
    draw = random.Random(seed)
    files = [f"src/part_{k:05d}/file_{k % 97}.py" for k in range(max(5, n // 20))]
    spans = [Span("user", -1, text="Fix the failing tests of src/app/core.py; see #48213")]
    for k in range((n - 1) // 2):
        file, number = draw.choice(files), draw.randrange(10**6)
        kind = draw.choices(range(5), (35, 30, 15, 10, 10))[0]
        name, arguments, text = (
            ("read", {"path": f"/w/{file}"}, f"def f_{number}(x):\n    return load('{draw.choice(files)}', {number})"),
            ("edit", {"path": f"/w/{file}", "old": f"a{number}", "new": f"b{number}"}, "updated"),
            ("bash", {"command": f"pytest -q {file}"}, f"FAILED {file}::test_{number % 99} - AssertionError"),
            ("bash", {"command": f"git commit -am 'step {number}'"}, f"[main {number:07x}] done"),
            ("bash", {"command": f"grep -rn f_{number} src"}, f"{file}:{number % 400}: f_{number}(1)"),
        )[kind]
        raw, failed = json.dumps(arguments), draw.random() < 0.1
        spans.append(Span("tool_call", k, name=name, arguments=arguments, arguments_raw=raw))
        spans.append(Span("tool_result", k, text=text, result_of=len(spans) - 1, error=failed))
    return Trajectory(id=f"mixed-{seed}", spans=spans)


def hostile(case: str) -> int:
    """Build one hostile graph in a process of its own and report it; 1 where it is out of bounds."""
    command = [sys.executable, "-m", "tests.hostile.explode", case]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)
    seconds, mb, sources = found["seconds"], found["bytes"] >> 20, found["sources"]
    print(f"{case}: {seconds:.2f} s, {mb} MB, {found['edges']:,} edges, at most {sources} sources of a value")
    return int(seconds > MOST_SECONDS or mb > MOST_MB or sources > MOST_SOURCES)


def cost() -> int:
    """Time and memory a span in short and in long transcripts; then the hostile ones. The number of misses."""
    made = (("chain of ids", chain), ("coding agent", mixed))
    return sum(growth(name, make) for name, make in made) + sum(hostile(case) for case in CASES)


def growth(name: str, make: Callable[[int, int], Trajectory]) -> int:
    """What a span costs in 100 transcripts of 200 spans and in one of 20,000, in turn; 1 where it grows too much."""
    runs = [[make(201, 1000 * k) for k in range(100)], [make(20_001, 0)]]
    took: list[list[float]] = [[], []]
    for _ in range(7):
        for times, trajectories in zip(took, runs, strict=True):
            start = time.process_time()
            build_graphs(trajectories)
            times.append((time.process_time() - start) / sum(len(t.spans) for t in trajectories))
    small, large = (1e6 * statistics.median(times[1:]) for times in took)
    print(
        f"{name}: {small:.1f} us a span at 200 spans, {large:.1f} us at 20,000: {large / small:.2f} times; "
        + " and ".join(f"{held(trajectories):,.0f}" for trajectories in runs)
        + " bytes a span at most"
    )
    return int(large > MOST_TIMES * small)


def held(trajectories: list[Trajectory]) -> float:
    """Most bytes a span that building these graphs held at once."""
    tracemalloc.start()
    build_graphs(trajectories)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / sum(len(t.spans) for t in trajectories)


def main() -> int:
    """Print every table; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracle", nargs="?", type=Path, default=ROOT.parent / "shared" / "bench" / "oracle")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/edges.md")
    parser.add_argument("--cost", action="store_true", help="measure time and memory alone")
    given = parser.parse_args()
    if given.cost:
        return 1 if cost() else 0
    if (given.oracle / "score.py").exists():
        text = "\n".join(measured(Oracle(given.oracle)))
        print(text)
        if given.write:
            page = PAGE.read_text()
            before, after = page.split(BEGIN)[0], page.split(END)[1]
            PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    else:
        print(f"no oracle bench at {given.oracle}: its tables are skipped")
    return 1 if cost() else 0


if __name__ == "__main__":
    sys.exit(main())
