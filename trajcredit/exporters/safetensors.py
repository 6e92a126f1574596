"""Token rows as flat tensors with offsets in one safetensors file, written without holding them in memory.

The format wants its header first: 8 bytes of length (little-endian), the header as JSON (name -> dtype, shape,
data_offsets), then the numbers. So each tensor grows in a temporary file of its own until the last row is seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from trajcredit.errors import InputError
from trajcredit.exporters.lines import prompted
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.registry import exporters
from trajcredit.tokens import TokenRow

__all__ = ["SCHEMA", "Safetensors"]

SCHEMA = "trajcredit.tensors/1"
LARGEST_HEADER = 100_000_000
"""Bytes of a header that the safetensors library reads."""

# the largest elements first, so that every tensor begins at a multiple of its element's size
TENSORS = {
    "prompt_offsets": ("I64", "<i8"),
    "prompt_ids": ("I64", "<i8"),
    "response_offsets": ("I64", "<i8"),
    "response_ids": ("I64", "<i8"),
    "advantages": ("F32", "<f4"),
    "logprobs": ("F32", "<f4"),
    "response_mask": ("U8", "<u1"),
}


@exporters.register("safetensors")
@dataclass(frozen=True, slots=True)
class Safetensors(TokenExporter):
    """Flat tensors with offsets, row i at [offsets[i], offsets[i+1]), for a trainer of one's own.

    `prompt_ids`, `response_ids` and their offsets int64; `response_mask` uint8; `advantages` and `logprobs` float32,
    one a response token. `logprobs` is NaN over a row whose log has none, and left out where no row has any. The
    metadata names the rows.
    """

    suffix: ClassVar[str] = ".safetensors"

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        with ExitStack() as stack:
            spool = _Spool({name: stack.enter_context(TemporaryFile()) for name in TENSORS})
            for row in rows:
                spool.add(prompted(row))
            spool.write(out)
        return len(spool.uids)


@dataclass(slots=True)
class _Spool:
    """What was seen of the rows: numbers in files, names in memory."""

    files: dict[str, IO[bytes]]
    uids: list[str] = field(default_factory=list)
    trajectory_ids: list[str] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    ids_sources: list[str] = field(default_factory=list)
    policy_versions: list[str | None] = field(default_factory=list)
    outcomes: list[float | None] = field(default_factory=list)
    prompt_tokens: int = 0
    response_tokens: int = 0
    trained: int = 0
    without_logprobs: int = 0

    def add(self, row: TokenRow) -> None:
        if not self.uids:
            self._put("prompt_offsets", 0)
            self._put("response_offsets", 0)
        self.prompt_tokens += len(row.prompt_ids)
        self.response_tokens += len(row.response_ids)
        self.trained += row.trained
        self._put("prompt_offsets", self.prompt_tokens)
        self._put("response_offsets", self.response_tokens)
        self._put("prompt_ids", row.prompt_ids)
        self._put("response_ids", row.response_ids)
        self._put("response_mask", row.response_mask)
        self._put("advantages", row.advantages)
        if row.logprobs is None:
            self.without_logprobs += 1
            self._put("logprobs", np.full(len(row.response_ids), np.nan))
        else:
            self._put("logprobs", row.logprobs)
        self.uids.append(row.uid)
        self.trajectory_ids.append(row.trajectory_id)
        self.rows.append(row.row)
        self.ids_sources.append(row.ids_source)
        self.policy_versions.append(row.policy_version)
        self.outcomes.append(row.outcome)

    def write(self, out: BinaryIO) -> None:
        """The header, then each tensor; InputError where the library would not read so long a header."""
        header = self._header()
        if len(header) > LARGEST_HEADER:
            raise InputError(
                f"the names of {len(self.uids):,} rows take {len(header):,} bytes, and a safetensors header holds "
                f"{LARGEST_HEADER:,}: export fewer trajectories a file"
            )
        out.write(len(header).to_bytes(8, "little"))
        out.write(header)
        for name in self._written():
            file = self.files[name]
            file.seek(0)
            copyfileobj(file, out, 1 << 20)

    def _put(self, name: str, values: npt.ArrayLike) -> None:
        self.files[name].write(np.asarray(values).astype(TENSORS[name][1]).tobytes())

    def _written(self) -> list[str]:
        return [name for name in TENSORS if name != "logprobs" or self.without_logprobs < len(self.uids)]

    def _header(self) -> bytes:
        header: dict[str, Any] = {"__metadata__": self._metadata()}
        at = 0
        for name in self._written():
            kind, layout = TENSORS[name]
            size = self.files[name].tell()
            shape = [size // np.dtype(layout).itemsize]
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
            at += size
        told = json.dumps(header, separators=(",", ":")).encode("ascii")
        return told + b" " * (-len(told) % 8)

    def _metadata(self) -> dict[str, str]:
        """Texts, as the format has it: lists of one entry a row, and the counts, as JSON."""
        lists = {
            "uids": self.uids,
            "trajectory_ids": self.trajectory_ids,
            "rows": self.rows,
            "ids_sources": self.ids_sources,
            "policy_versions": self.policy_versions,
            "outcomes": self.outcomes,
            "counts": {
                "rows": len(self.uids),
                "prompt_tokens": self.prompt_tokens,
                "response_tokens": self.response_tokens,
                "trained_tokens": self.trained,
                "rows_without_logprobs": self.without_logprobs,
            },
        }
        return {"schema": SCHEMA} | {name: json.dumps(value, separators=(",", ":")) for name, value in lists.items()}
