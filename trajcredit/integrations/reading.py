"""Exported token files -> records, checked once more: what a trainer is handed must fit its tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from trajcredit.errors import InputError

__all__ = ["Layout", "Record", "ReplayedTwiceError", "by_trajectory", "fits", "read"]

Record: TypeAlias = dict[str, Any]
Columns: TypeAlias = Sequence[Any]

LARGEST_BATCH = 64
"""Rows of a parquet table in memory at a time."""


class ReplayedTwiceError(InputError):
    """A recorded row is asked for more often than it was recorded."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of one trainer's file, in the trainer's own names; also `uid`, `trajectory_id` and `row`."""

    exporter: str
    """Its name in `trajcredit export --to`."""
    ids: tuple[str, ...]
    """Fields of token ids."""
    mask: str
    """1 on trained tokens; the other two fields have its length."""
    advantages: str
    logprobs: str
    """May be null."""
    length: Callable[[Record], int]
    """How many entries `mask` must have."""


def read(path: str | Path, layout: Layout) -> Iterator[Record]:
    """The records of an exported file (JSON lines or parquet), in order.

    InputError names file and line (or row of a table) and what breaks a rule: missing fields, lengths that differ, a
    mask that holds anything but 0 and 1 or no 1, numbers that are not finite, an advantage where the mask is 0.
    """
    for place, record in _records(Path(path)):
        if (fault := _fault(record, layout)) is not None:
            raise InputError(f"{place}: {fault}")
        yield record


def by_trajectory(path: str | Path, layout: Layout) -> dict[str, list[Record]]:
    """The rows of each trajectory, in their order; InputError where a row comes twice or one is missing."""
    found: dict[str, list[Record]] = {}
    for record in read(path, layout):
        rows = found.setdefault(record["trajectory_id"], [])
        if record["row"] != len(rows):
            raise InputError(
                f"{path}: row {record['row']} of {record['trajectory_id']} where row {len(rows)} was expected: "
                "is a file missing, or there twice?"
            )
        rows.append(record)
    return found


def fits(advantages: Columns, mask: Columns, where: str) -> None:
    """InputError where advantages do not fit the mask that a trainer has: another length, or a number on a 0."""
    if len(advantages) != len(mask):
        raise InputError(f"{where}: {len(advantages)} advantages for {len(mask)} tokens")
    numbers = np.asarray(advantages, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise InputError(f"{where}: an advantage is not finite")
    stray = np.flatnonzero((numbers != 0) & (np.asarray(mask) == 0))
    if len(stray):
        at = int(stray[0])
        raise InputError(
            f"{where}: token {at} has advantage {numbers[at]:g} and mask 0: advantages belong to other tokens"
        )


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                yield from _of_table(path)
                return
            file.seek(0)
            for number, line in enumerate(file, start=1):
                place = f"{path}:{number}"
                if not line.strip():
                    continue
                try:
                    record = msgspec.json.decode(line)
                except (msgspec.DecodeError, RecursionError) as error:
                    raise InputError(f"{place}: no JSON: {error}") from error
                yield place, record
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _of_table(path: Path) -> Iterator[tuple[str, Any]]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        with ParquetFile(path) as table:
            for batch in table.iter_batches(LARGEST_BATCH):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", record
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: no parquet table: {error}") from error


def _fault(record: Any, layout: Layout) -> str | None:
    """What is wrong with a record; None where nothing is."""
    if not isinstance(record, dict):
        return f"expected an object with fields of {layout.exporter}"
    lists = (*layout.ids, layout.mask, layout.advantages)
    missing = [name for name in ("uid", "trajectory_id", "row", *lists, layout.logprobs) if name not in record]
    if missing:
        return f"it has no {missing[0]!r}: expected a file of `trajcredit export --to {layout.exporter}`"
    if not isinstance(record["uid"], str) or not isinstance(record["trajectory_id"], str):
        return "uid and trajectory_id must be text"
    if not _whole(record["row"]):
        return f"row is {record['row']!r}: expected a whole number"
    for name in lists:
        if not isinstance(record[name], list):
            return f"{name} is no list"
    for name in layout.ids:
        if not all(_whole(token) for token in record[name]):
            return f"{name} holds something other than token ids"
    return _fault_of_lengths(record, layout) or _fault_of_numbers(record, layout)


def _fault_of_lengths(record: Record, layout: Layout) -> str | None:
    try:
        expected = layout.length(record)
    except (KeyError, TypeError) as error:
        return f"its length cannot be told: {error}"
    for name in (layout.mask, layout.advantages, layout.logprobs):
        column = record[name]
        if column is None and name == layout.logprobs:
            continue
        if not isinstance(column, list) or len(column) != expected:
            return f"{name} must be a list of {expected}, one entry a token"
    return None


def _fault_of_numbers(record: Record, layout: Layout) -> str | None:
    mask = record[layout.mask]
    if not all(_whole(flag) and flag <= 1 for flag in mask):
        return f"{layout.mask} holds something other than 0 and 1"
    if not any(mask):
        return f"{layout.mask} is 0 throughout: nothing would be trained"
    for name in (layout.advantages, layout.logprobs):
        for at, (number, trained) in enumerate(zip(record[name] or [0.0] * len(mask), mask, strict=True)):
            if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
                return f"{name}[{at}] is {number!r}: expected a finite number"
            if number and not trained:
                return f"{name}[{at}] is {number!r} where {layout.mask} is 0"
    return None


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
