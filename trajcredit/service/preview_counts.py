"""What an export of a run holds, counted once: looking at another trajectory of it, or at its next tokens, is cheap."""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

import numpy as np

from trajcredit import kernels
from trajcredit.errors import InputError
from trajcredit.exporters import TokenExporter
from trajcredit.exporters.whitening import whitened
from trajcredit.service.exporting import credits_of_run
from trajcredit.store import Store
from trajcredit.store.run_inputs import Member
from trajcredit.store.runs import Run
from trajcredit.tokens import Counted, TokenRow

__all__ = ["Looked", "looked_at"]

MOST_KEPT = 16
"""Exports that are remembered, in this process; the one asked for longest ago is forgotten first."""
FILES = ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja")


@dataclass(frozen=True, slots=True, eq=False)
class Looked:
    """The counts of an export, and what the rows of one trajectory depend on besides it."""

    counted: Counted
    first: str | None
    """The first trajectory that has rows, as the log names it."""
    moments: kernels.Moments
    """Of the advantages of all trained tokens, before any whitening."""
    refused: str | None
    """Why the trainer's file cannot be written."""


_kept: OrderedDict[Hashable, Looked] = OrderedDict()
_lock = Lock()


def looked_at(store: Store, run: Run, members: Sequence[Member], whole: int, exporter: TokenExporter) -> Looked:
    """The counts over these members of a finished run that has `whole`; from memory where nothing has changed.

    A finished run is what it is: it can lose trajectories and gains none. `misaligned` is taken for "drop".
    """
    key = (store.name, run.project, run.id, run.watermark, whole, len(members), exporter, _stamps(exporter))
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    found = _look(store, run, members, exporter)
    with _lock:
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return found


def _look(store: Store, run: Run, members: Sequence[Member], exporter: TokenExporter) -> Looked:
    counted = Counted()
    first: str | None = None
    moments = kernels.moments(np.zeros(0), np.zeros(0, dtype=bool))

    def passing() -> Iterator[TokenRow]:
        nonlocal first, moments
        for row in exporter.rows(credits_of_run(store, run, members), counted):
            first = row.trajectory_id if first is None else first
            moments = kernels.merged(moments, kernels.moments(row.advantages, row.response_mask == 1))
            yield row

    rows, refused = whitened(passing(), exporter.whiten, counted), None
    try:
        exporter.encode(rows, cast(BinaryIO, _Nowhere()))
    except InputError as error:
        refused = str(error)
    for _ in rows:  # the rest is counted all the same
        pass
    return Looked(counted, first, moments, refused)


class _Nowhere(io.RawIOBase):
    """Takes bytes and keeps none."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return len(data)


def _stamps(exporter: TokenExporter) -> tuple[tuple[str, int, int], ...]:
    """When the files that an exporter reads were last written, and their sizes."""
    files: list[Path] = []
    if exporter.tokenizer is not None:
        given = Path(exporter.tokenizer)
        folder = given if given.is_dir() else given.parent
        files = [given, *(folder / name for name in FILES)]
    if exporter.chat_template is not None:
        files.append(Path(exporter.chat_template))
    stats = [(str(file), file.stat()) for file in files if file.is_file()]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
