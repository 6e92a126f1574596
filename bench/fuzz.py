"""Coverage-guided fuzzing of the readers, one envelope family a run.

pip install atheris; python bench/fuzz.py json|jsonl|sse|otlp|zip|parquet -max_total_time=600 [options of libFuzzer]

It starts from the logs of the tests. The last byte of an input chooses the format: recognised, or one by name. An
input that breaks a promise ends the run and is kept in the current folder.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["trajcredit.formats", "trajcredit.model"], enable_loader_override=False):
    from trajcredit.errors import ParseError
    from trajcredit.formats import read_bytes
    from trajcredit.formats.repair import too_deep
    from trajcredit.model import check, decode, encode
    from trajcredit.registry import formats

from trajcredit.graph.failures import failed  # what readers and graphs say of a result agrees

LOGS = Path(__file__).parents[1] / "tests" / "data"
NAME = "a.log"
LIMIT = 64 << 20
HALF_OR_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})")
"""What no database holds as text."""
CUT = b"\xff\xfe"
"""Between the members of an archive."""
MEMBERS = ("header.json", "samples/1_epoch_1.json", "samples/2_epoch_1.json", "_journal/start.json")
FORMATS: dict[str, list[str | None]] = {
    "json": [None, *formats.items()],
    "jsonl": [None, *formats.items()],
    "sse": [None, "anthropic", "openai_completions", "openai_responses", "gemini"],
    "otlp": [None, "otel_genai", "openinference", "agent_lightning"],
    "zip": [None, "inspect"],
    "parquet": [None, "trl", "openai_chat"],
}
LOGS_OF = {
    "json": "*.json",
    "jsonl": "*.jsonl",
    "sse": "*.sse",
    "otlp": "o[tp]e[ln]*",
    "zip": "inspect.json",
    "parquet": "[ot][pr][el]*.jsonl",
}


def hold(data: bytes, format: str | None) -> None:
    """What is promised: errors that say where, or sound trajectories with ids of their own, fit for any database."""
    seen: set[str] = set()
    for item in read_bytes(data, NAME, format, limit=LIMIT):
        if isinstance(item, ParseError):
            assert item.reason
            assert item.line is None or item.line > 0
            str(item).encode()
            continue
        check(item)
        line = encode(item)
        assert decode(line) == item
        assert not HALF_OR_NUL.search(line)
        assert not any(too_deep(value) for span in item.spans for value in (span.arguments, span.usage))
        assert not any(too_deep(tool.parameters) for tool in item.tools)
        assert all(failed(span) == (span.error is True) for span in item.spans if span.kind == "tool_result")
        assert item.id not in seen
        seen.add(item.id)
        if item.source is not None and item.source.file == NAME:  # in our own form anybody may have written notes
            assert all(note.span is None or 0 <= note.span < len(item.spans) for note in item.report)


def of(family: str) -> Callable[[bytes], None]:
    """What is done with one input."""
    known = FORMATS[family]

    def one(data: bytes) -> None:
        if data:
            packed = {"zip": archive, "parquet": table_of}.get(family)
            body = packed(data[:-1]) if packed is not None else data[:-1]
            hold(body, known[data[-1] % len(known)])

    return one


def archive(data: bytes) -> bytes:
    """An archive of Inspect with these members; bytes that are an archive stay as they are."""
    if data.startswith(b"PK"):
        return data
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, member in zip(MEMBERS, data.split(CUT), strict=False):
            if member:
                packed.writestr(name, member)
    return file.getvalue()


def as_text(row: bytes) -> bytes:
    """The row with its lists and objects as JSON text; what is no JSON as it is."""
    try:
        values = json.loads(row).items()
    except (ValueError, AttributeError):
        return row
    return json.dumps({k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in values}).encode()


def table_of(data: bytes) -> bytes:
    """The table of these JSON lines; bytes that are a table, or no rows of one, stay as they are."""
    import pyarrow

    if data.startswith(b"PAR1"):
        return data
    try:
        return table([row for row in map(json.loads, data.splitlines()) if isinstance(row, dict)])
    except (ValueError, RecursionError, OverflowError, TypeError, pyarrow.ArrowException):
        return data


def table(rows: list[Any]) -> bytes:
    """The rows as a Parquet file."""
    import pyarrow
    from pyarrow.parquet import write_table

    file = BytesIO()
    write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


def starts(family: str) -> Iterator[tuple[str, bytes]]:
    """What a run begins with, each under a name: the tests' logs, as archives and tables where the family is one."""
    for log in LOGS.glob(LOGS_OF[family]):
        data = log.read_bytes()
        if family == "zip":
            header = json.loads(data)
            samples = header.pop("samples")
            yield "samples", CUT.join(json.dumps(member).encode() for member in (header, *samples))
            yield "journal", CUT.join([b"", *(json.dumps(member).encode() for member in (*samples[:2], header))])
        elif family == "parquet":
            for number, row in enumerate(data.splitlines()):
                yield f"{log.name} {number}", row
                yield f"{log.name} {number} as text", as_text(row)
                yield f"{log.name} {number} as table", table_of(row)
        else:
            yield log.name, data


def main(family: str, options: list[str]) -> None:
    """Fuzz a family from the tests' logs of it."""
    with tempfile.TemporaryDirectory() as corpus:
        for name, data in starts(family):
            (Path(corpus) / name).write_bytes(data + b"\0")
        atheris.Setup([sys.argv[0], *options, corpus], of(family))
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
