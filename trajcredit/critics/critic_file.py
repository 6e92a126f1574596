"""A fitted critic as a file: arrays in the safetensors layout, everything else as JSON in its metadata.

8 bytes of header length (little-endian), the header as JSON: name -> {dtype, shape, data_offsets}, then the numbers.
Nothing in it is ever run. `__metadata__` holds one text, `trajcredit`: the document below.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from trajcredit.arrays import F64, I64, U64
from trajcredit.critics.compatible import Compatible
from trajcredit.critics.describe import PROGRESS
from trajcredit.critics.drift import FIGURES
from trajcredit.critics.filling import KINDS
from trajcredit.critics.folds import ALL, FOLDS
from trajcredit.critics.frames import Frame
from trajcredit.critics.kept import FittedCritic, FittedPool, PoolModel
from trajcredit.critics.ridge import Ridge
from trajcredit.critics.sequence import Sequence as Network
from trajcredit.critics.words import Vocabulary
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.model import LARGEST_NUMBER

__all__ = ["SCHEMA", "known", "load", "to_bytes"]

SCHEMA = "trajcredit.critic/1"
MODELS: dict[str, type[Compatible] | type[Ridge] | type[Network]] = {
    "compatible": Compatible,
    "ridge": Ridge,
    "sequence": Network,
}
KEY = "trajcredit"
METADATA = "__metadata__"
TYPES = {"F64": "<f8", "I64": "<i8", "U64": "<u8"}
LARGEST = 2 << 30
"""Bytes of a file that is read."""
LARGEST_HEADER = 256 << 20

Arrays = Mapping[str, Any]


class _Frame(msgspec.Struct, forbid_unknown_fields=True):
    words: Vocabulary
    names: tuple[str, ...]
    states: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    folds: tuple[int, ...]
    """Of the models, in their order."""


class _Pool(msgspec.Struct, forbid_unknown_fields=True):
    tool_sets: tuple[frozenset[str], ...]
    tools: frozenset[str]
    folds: dict[str, int]
    note: str
    model: _Frame | None


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    schema: str
    kind: str
    code: str
    data: str
    pools: tuple[_Pool, ...]


def to_bytes(critic: FittedCritic) -> bytes:
    """The file of a fitted critic; the same critic gives the same bytes."""
    arrays: dict[str, Any] = {}
    pools = []
    for p, pool in enumerate(critic.pools):
        parts = {"marks": pool.marks, "mark_folds": pool.mark_folds, "figures": pool.figures}
        if pool.model is not None:
            parts |= {"situations": pool.model.frame.situations, **pool.model.arrays()}
        arrays |= {f"{p}/{name}": array for name, array in parts.items()}
        pools.append(_pool_document(pool))
    document = {"schema": SCHEMA, "kind": critic.kind, "code": critic.code, "data": critic.data, "pools": pools}
    header: dict[str, Any] = {METADATA: {KEY: json.dumps(document)}}
    at = 0
    blocks = []
    for name, array in arrays.items():
        kind = {"f": "F64", "i": "I64", "u": "U64"}[array.dtype.kind]
        block = np.ascontiguousarray(array, dtype=TYPES[kind]).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(block)]}
        at += len(block)
        blocks.append(block)
    told = json.dumps(header).encode("ascii")
    told += b" " * (-len(told) % 8)
    return b"".join((len(told).to_bytes(8, "little"), told, *blocks))


def known(critic: str) -> None:
    """UnknownNameError where this is neither a kind of critic nor a file there is; InputError where it can only be a
    file."""
    if critic in KINDS or Path(critic).is_file():
        return
    if Path(critic).suffix or Path(critic).name != critic:
        raise InputError(f"cannot read the fitted critic {critic}: no such file")
    raise UnknownNameError("critic", critic, KINDS)


def load(path: Path) -> FittedCritic:
    """The fitted critic of a file; InputError says what is wrong with one that holds none."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"cannot read the fitted critic {path}: {error.strerror or error}") from error
    try:
        return _read(data)
    except _BrokenError as error:
        raise InputError(f"{path} is no fitted critic of this version: {error}") from error


class _BrokenError(Exception):
    """What is wrong with a file."""


def _pool_document(pool: FittedPool) -> dict[str, Any]:
    model: dict[str, Any] | None = None
    if pool.model is not None:
        frame = pool.model.frame
        words = {name: sorted(getattr(frame.words, name)) for name in Vocabulary.__struct_fields__}
        model = {"words": words, "names": frame.names, "states": frame.states, "arguments": frame.arguments}
        model["folds"] = list(pool.model.models)
    sets = [sorted(names) for names in pool.tool_sets]
    return {"tool_sets": sets, "tools": sorted(pool.tools), "folds": pool.folds, "note": pool.note, "model": model}


def _read(data: bytes) -> FittedCritic:
    header, body = _header(data)
    metadata = header.pop(METADATA, None)
    text = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise _BrokenError(f"its metadata has no text {KEY!r}")
    found = _json(text, "its document")
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise _BrokenError(f"expected schema {SCHEMA!r}, found {_short(schema)}")
    try:
        document = msgspec.convert(found, _Document)
    except msgspec.ValidationError as error:
        raise _BrokenError(f"its document: {error}") from error
    if document.kind not in MODELS:
        raise _BrokenError(f"it is of kind {_short(document.kind)}; known: {', '.join(MODELS)}")
    arrays = _arrays(header, body)
    pools = tuple(_pool(document.kind, p, one, arrays) for p, one in enumerate(document.pools))
    if arrays:
        raise _BrokenError(f"it has an array {_short(next(iter(arrays)))}, which no pool has")
    return FittedCritic(document.kind, document.code, document.data, pools)


def _header(data: bytes) -> tuple[dict[str, Any], memoryview]:
    if len(data) > LARGEST:
        raise _BrokenError(f"it is larger than {LARGEST:,} bytes")
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= length <= min(len(data) - 8, LARGEST_HEADER):
        raise _BrokenError(f"it has {len(data):,} bytes, and no header of the length that its first 8 bytes say")
    header = _json(data[8 : 8 + length], "its header")
    if not isinstance(header, dict):
        raise _BrokenError(f"its header is {_short(header)}; expected an object")
    return header, memoryview(data)[8 + length :]


def _json(text: str | bytes, where: str) -> Any:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON number")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise _BrokenError(f"{where} is no JSON: {error}") from error


def _arrays(header: Mapping[str, Any], body: memoryview) -> dict[str, Any]:
    """The arrays of the header, which fill the body without gap or overlap."""
    found: dict[str, Any] = {}
    end = 0
    for name, told in header.items():
        try:
            kind, shape, offsets = msgspec.convert(
                [told["dtype"], told["shape"], told["data_offsets"]], tuple[str, tuple[int, ...], tuple[int, int]]
            )
        except (msgspec.ValidationError, KeyError, TypeError) as error:
            raise _BrokenError(f"array {_short(name)}: expected dtype, shape and data_offsets ({error})") from error
        if kind not in TYPES or len(shape) > 3 or min(shape, default=0) < 0:
            raise _BrokenError(f"array {_short(name)} is {_short(kind)} of shape {_short(shape)}")
        if offsets != (end, end + 8 * prod(shape)) or offsets[1] > len(body):
            raise _BrokenError(
                f"array {_short(name)} of shape {_short(shape)} is said to lie at {_short(offsets)}; "
                f"expected it from {end} on, in {len(body)} bytes"
            )
        found[name] = np.frombuffer(body[end : offsets[1]], dtype=TYPES[kind]).reshape(shape)
        end = offsets[1]
    if end != len(body):
        raise _BrokenError(f"{len(body) - end} bytes after its last array belong to none")
    return found


def _pool(kind: str, p: int, told: _Pool, arrays: dict[str, Any]) -> FittedPool:
    """Pool p; takes its arrays out."""

    def take(name: str, dtype: str, *shape: int) -> Any:
        array = arrays.pop(f"{p}/{name}", None)
        expected = f"{dtype}{list(shape)}"
        if array is None:
            raise _BrokenError(f"pool {p} has no array {name!r}; expected {expected}")
        if array.shape != shape or array.dtype != TYPES[dtype]:
            raise _BrokenError(f"pool {p}: {name!r} is {array.dtype}{list(array.shape)}; expected {expected}")
        if dtype == "F64" and not ((np.abs(array) <= LARGEST_NUMBER) | (np.isnan(array) & (name == "figures"))).all():
            raise _BrokenError(f"pool {p}: {name!r} holds what is no number within {LARGEST_NUMBER:.5g}")
        return array

    n_marks = arrays.get(f"{p}/marks", np.zeros(0)).size
    marks: U64 = take("marks", "U64", n_marks)
    mark_folds: I64 = take("mark_folds", "I64", n_marks)
    figures: F64 = take("figures", "F64", len(told.folds) if told.model is not None else 0, len(FIGURES))
    fold = np.array([*told.folds.values(), *mark_folds.tolist()])
    if len(fold) and not (fold.min() >= 0 and fold.max() < FOLDS):
        raise _BrokenError(f"pool {p}: folds are numbered from 0 to {FOLDS - 1}")
    if (marks[1:] < marks[:-1]).any():
        raise _BrokenError(f"pool {p}: 'marks' do not ascend")
    model: PoolModel | None = None
    if told.model is not None:
        _check_frame(p, told.model)
        one = told.model
        n_situations = arrays.get(f"{p}/situations", np.zeros(0)).size
        frame = Frame(one.words, one.names, one.states, take("situations", "U64", n_situations), one.arguments)
        shapes = MODELS[kind].shapes(len(one.folds), len(one.names), len(one.states), n_situations, len(one.arguments))
        model = MODELS[kind].of(frame, one.folds, {name: take(name, "F64", *shape) for name, shape in shapes.items()})
    return FittedPool(told.tool_sets, told.tools, model, told.folds, marks, mark_folds, figures, told.note)


def _check_frame(p: int, frame: _Frame) -> None:
    if len(set(frame.names)) < len(frame.names) or len(set(frame.states)) < len(frame.states):
        raise _BrokenError(f"pool {p}: two columns have one name")
    if len(set(frame.arguments)) < len(frame.arguments):
        raise _BrokenError(f"pool {p}: an argument is told twice")
    if frame.states[-len(PROGRESS) :] != PROGRESS:
        raise _BrokenError(f"pool {p}: the last columns of the state are not {', '.join(PROGRESS)}")
    if len(set(frame.folds)) < len(frame.folds) or not set(frame.folds) <= {ALL, *range(FOLDS)}:
        raise _BrokenError(f"pool {p}: models are without the folds {_short(frame.folds)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
