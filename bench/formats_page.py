"""docs/formats.md: what is found in a log of each format, what is left out, what is guessed.

python bench/formats_page.py [FOLDER]

The figures come from the tests' own logs, and from a folder of real ones where one is given or lies at ../shared/data;
without it, the figures of real logs stay as they are on the page.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from trajcredit import registry
from trajcredit.batching.groups import group_key
from trajcredit.errors import ParseError
from trajcredit.formats import marked, read, written
from trajcredit.model import Trajectory

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "formats.md"
LOGS = ROOT / "tests" / "data"
REAL = ROOT.parent / "shared" / "data"
BEGIN, END = "<!-- real logs -->", "<!-- end of real logs -->"

INTRO = """# Log formats

Made by `poe docs` from the readers and from logs. The format of a log is recognised by its structure; `--format NAME`
says it where two could be meant. A record that cannot be read is named with its line and the reason, and the rest
goes on.

Every reader keeps what its log has of: spans in causal order, each result tied to its call by id, else by tool, else
by place; arguments, decoded where they are JSON and as they stand where they are not; errors that the log itself
flags, and those that only the text of a result tells, with a note; times, token counts, costs, the model's name; token
ids, log-probs and masks; policy version, rewards, groups, tasks and trials; sub-agents with the call that started
them. History that requests repeat is taken once. Whatever was guessed, mended or left out is a note on the trajectory:
`trajcredit show` prints it, and so do the interface and the API.

Limits, in every format: arguments and declarations that nest deeper than 100 levels, rewards beyond 2^53, NaN and
infinities are refused, or kept as the text they were, and it says where; half a surrogate pair becomes U+FFFD and NUL
becomes U+2400, with a note; text that is no UTF-8 is refused with the byte; gzip, zstd, zip and Parquet are read up to
2 GiB decoded, above 64 MiB only where that is at most 400 times (zstd: 4,000 times) what it was packed into. A record
may nest at most 100 levels, also under keys that no reader looks at. Of a compressed log or a zip that was cut off what
came before the cut is read, and the cut is an error that names the byte and the line.

Whatever the format, a log may be one JSON value, a JSON array, JSON lines, server-sent events, objects that a program
printed over several lines each, or the rows of a Parquet file: columns that are null in a row are absent from it, and
messages may stand in a column as JSON text. Records of several formats in one log are read as what each is, with a
note. Records of equal bytes are one run where they give their id, which is read once; without one they are two
rollouts, with a note, whether they are rows or files.
"""
SMALL = """## The tests' own logs

Small logs in `tests/data`, one or more a format. Groups: those of two trajectories or more. Token ids: turns and
spans that have some. Refused: records with a reason.
"""
REALS = """## Real logs

Published logs of real programs, by the format they were recognised as.
"""
WRITTEN = """## Calls written as text

Where a log has no calls of its own, those that the model wrote as text are calls, marked as inferred, and what comes
back is their result."""
HEADS = ("trajectories", "spans", "calls", "results", "rewards", "groups", "token ids", "refused")


def main(arguments: Sequence[str]) -> None:
    """Write the page."""
    real = Path(arguments[0]) if arguments else REAL
    PAGE.write_text(page(real if real.is_dir() else None), encoding="utf-8")


def page(real: Path | None = None) -> str:
    """The page; without a folder of real logs its part about these is that of the page as it stands."""
    own = {log.name: list(read(log)) for log in sorted(LOGS.iterdir())}
    rows = [[f"`{name}`", *figures(found)] for name, found in own.items()]
    parts = [INTRO, f"{SMALL}\n{table(('log', *HEADS), rows)}", _standing() if real is None else real_logs(real)]
    parts.append("\n\n".join([WRITTEN, *tables_of(written), *tables_of(marked)]) + "\n")
    parts += [of_format(name, reader, own) for name, reader in registry.formats.items().items()]
    return "\n".join(parts)


def _standing() -> str:
    """The part about real logs on the page as it stands."""
    old = PAGE.read_text(encoding="utf-8") if PAGE.exists() else f"{BEGIN}\n{END}\n"
    return old[old.index(BEGIN) : old.index(END) + len(END)] + "\n"


def real_logs(folder: Path) -> str:
    """The figures of all files in a folder, by format; then what is refused, and why."""
    by_format: dict[str, list[Trajectory | ParseError]] = {}
    files: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        found = list(read(file))
        names = {item.source.format for item in found if isinstance(item, Trajectory) and item.source is not None}
        for name in sorted(names):
            by_format.setdefault(name, []).extend(found)
            files[name] += 1
        if not names:
            refused.update(_reason(item) for item in found if isinstance(item, ParseError))
    order = [name for name in registry.formats.items() if name in files]
    rows = [[f"`{name}`", str(files[name]), *figures(by_format[name])] for name in order]
    reasons = table(("files refused", "reason"), [[str(count), reason] for reason, count in sorted(refused.items())])
    return f"{BEGIN}\n{REALS}\n{table(('format', 'files', *HEADS), rows)}\n{reasons}{END}\n"


def _reason(error: ParseError) -> str:
    """Why, without the names in it."""
    words = error.reason.split(": its objects have the keys ")
    return words[0] + (": its objects have other keys" if len(words) > 1 else "")


def figures(found: Iterable[Trajectory | ParseError]) -> list[str]:
    """What stands in the columns."""
    items = list(found)
    read_ones = [item for item in items if isinstance(item, Trajectory)]
    spans = [span for t in read_ones for span in t.spans]
    kinds = Counter(span.kind for span in spans)
    groups = Counter(map(group_key, read_ones))
    tokens = sum(turn.sampled_ids is not None for t in read_ones for turn in t.turns)
    tokens = tokens or sum(span.tokens is not None and span.tokens.ids is not None for span in spans)
    rewards = sum(len(t.rewards) for t in read_ones)
    grouped = sum(count > 1 for key, count in groups.items() if key[0] != "alone")
    refused = len(items) - len(read_ones)
    counts = (len(read_ones), len(spans), kinds["tool_call"], kinds["tool_result"], rewards, grouped, tokens, refused)
    return [str(count) if count else "" for count in counts]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; numbers stand to the right."""
    lines = [heads, ["---" if head in ("log", "format", "reason") else "---:" for head in heads], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


# ---------------------------------------------------------------- one format


def of_format(name: str, reader: type[Any], own: dict[str, list[Trajectory | ParseError]]) -> str:
    """What a format is, what is found in the tests' logs of it, and the tables of its reader."""
    known = registry.formats.items()
    logs = [log for log in own if max((n for n in known if log.startswith(n)), key=len) == name]
    found = [item for log in logs for item in own[log] if isinstance(item, Trajectory)]
    said = [f"## {name}", registry.summary(reader), *registry.details(reader)]
    said.append(f"In {' and '.join(f'`{log}`' for log in logs)}: {', '.join(kept(found))}.")
    module = inspect.getmodule(reader)
    return "\n\n".join([*said, *(tables_of(module) if module is not None else ())]) + "\n"


def tables_of(module: ModuleType) -> list[str]:
    """The tables in what a module says of itself."""
    text = ast.get_docstring(ast.parse(inspect.getsource(module))) or ""
    return [part for part in text.split("\n\n") if part.startswith("|")]


def kept(found: Sequence[Trajectory]) -> list[str]:
    """What trajectories hold, in words."""
    spans = [span for t in found for span in t.spans]
    tokens = [span.tokens for span in spans if span.tokens is not None]
    sources = sorted({reward.source for t in found for reward in t.rewards})
    whole = {
        "tasks": any(t.task for t in found),
        "trials": any(t.trial for t in found),
        "steps": any(t.step is not None for t in found),
        "the log's own groups": any(t.group for t in found),
        "roles": any(t.role for t in found),
        "parents": any(t.parent for t in found),
        "policy versions": any(t.policy_version for t in found),
        "models": any(t.model for t in found),
        "how it ended": any(t.terminated is not None or t.truncated is not None for t in found),
        "answers": any(t.answer for t in found),
        "declared tools": any(t.tools for t in found),
        f"rewards ({', '.join(s.replace('_', ' ') for s in sources)})": bool(sources),
        "rewards on spans": any(reward.span is not None for t in found for reward in t.rewards),
    }
    single = {
        "errors": any(span.error is not None for span in spans),
        "agents": any(span.agent for span in spans),
        "times": any(span.started_at or span.ended_at for span in spans),
        "token counts": any(span.usage for span in spans) or any(t.n is not None and t.ids is None for t in tokens),
        "token ids": any(t.ids for t in tokens) or any(turn.sampled_ids for one in found for turn in one.turns),
        "log-probs": any(t.logprobs for t in tokens) or any(turn.logprobs for one in found for turn in one.turns),
        "masks": any(t.mask for t in tokens),
    }
    kinds = [kind.replace("_", " ") for kind in dict.fromkeys(span.kind for span in spans)]
    return [*kinds, *(word for word, there in (whole | single).items() if there)]


if __name__ == "__main__":
    main(sys.argv[1:])
