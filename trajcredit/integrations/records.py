"""Lines of an exported file, and the trainer's own modules: each missing piece is an error that says which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from trajcredit.errors import InputError, ParseError

__all__ = ["Check", "Record", "fit", "named", "numbers", "records", "trainer"]

Record: TypeAlias = dict[str, Any]
Check: TypeAlias = Callable[[str, Record], None]
"""InputError where a record breaks a rule; it is told the place."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def records(path: str | Path, exporter: str, check: Check) -> Iterator[tuple[str, Record]]:
    """Each line with its place (`file:line`); InputError where one is not as `exporter` writes it."""
    try:
        with Path(path).open("rb") as file:
            for number, line in enumerate(file, start=1):
                yield f"{path}:{number}", _record(line, str(path), number, exporter, check)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _record(line: bytes, path: str, number: int, exporter: str, check: Check) -> Record:
    try:
        record = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"not a JSON object: {error}", path, number) from error
    expected = f"expected a file of `trajcredit export --to {exporter}`"
    try:
        check(f"{path}:{number}", record)
    except KeyError as error:
        raise ParseError(f"it has no {error}: {expected}", path, number) from error
    except (TypeError, AttributeError) as error:
        raise ParseError(f"it has other values ({error}): {expected}", path, number) from error
    return record


def fit(place: str, **columns: Sequence[Any] | None) -> None:
    """InputError where lists that run in parallel have different lengths; None has none."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{n} {name}" for name, n in lengths.items())
        raise InputError(f"{place}: lists of one length are expected: {told}")


def named(place: str, record: Record, *names: str) -> None:
    """InputError where a field by which a record is found again is no text."""
    for name in names:
        if not isinstance(record[name], str):
            raise InputError(f"{place}: {name} is {record[name]!r}: expected text")


def numbers(place: str, name: str, values: Sequence[Any]) -> None:
    """InputError where something is no finite number."""
    for at, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            raise InputError(f"{place}: {name}[{at}] is {value!r}: expected a finite number")


def trainer(module: str, install: str) -> Any:
    """A module of the trainer; InputError says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f"{module} cannot be imported ({error}): this plug-in needs {install}") from error
