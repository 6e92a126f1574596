"""Rows -> rectangular arrays. Lengths come from the rows, never from looking for the pad id, which may be in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trajcredit.errors import InputError
from trajcredit.tokens.record import TokenRow

__all__ = ["padded"]


def padded(
    rows: Sequence[TokenRow],
    pad_id: int,
    prompt_length: int | None = None,
    response_length: int | None = None,
    *,
    responses: Literal["left", "right"] = "left",
) -> dict[str, npt.NDArray[Any]]:
    """Prompts end, and responses begin, at the border between them: [pad prompt | response pad].

    prompts, responses                                i64[B,P], i64[B,R]
    attention_mask                                    i64[B,P+R]  1 on the tokens of the row
    response_mask                                     i64[B,R]
    advantages, logprobs                              f32[B,R]    logprobs only where every row has them
    prompt_lengths, response_lengths                  i64[B]

    P and R are the longest of the rows, or as given. `responses` is the side on which they are aligned: left, with the
    padding behind (verl, TRL), or right, with it before (SkyRL 0.3.0, train/dataset/preprocess.py:32). InputError
    where a row is longer than P or R, or there is no row.
    """
    if not rows:
        raise InputError("no rows to pad")
    prompts = np.array([len(row.prompt_ids) for row in rows], dtype=np.int64)
    lengths = np.array([len(row.response_ids) for row in rows], dtype=np.int64)
    width = _width("prompt", prompts, prompt_length)
    room = _width("response", lengths, response_length)
    n = len(rows)
    arrays: dict[str, npt.NDArray[Any]] = {
        "prompts": np.full((n, width), pad_id, dtype=np.int64),
        "responses": np.full((n, room), pad_id, dtype=np.int64),
        "attention_mask": np.zeros((n, width + room), dtype=np.int64),
        "response_mask": np.zeros((n, room), dtype=np.int64),
        "advantages": np.zeros((n, room), dtype=np.float32),
        "prompt_lengths": prompts,
        "response_lengths": lengths,
    }
    if all(row.logprobs is not None for row in rows):
        arrays["logprobs"] = np.zeros((n, room), dtype=np.float32)
    for b, row in enumerate(rows):
        before = slice(width - prompts[b], width)
        start = 0 if responses == "left" else int(room - lengths[b])
        own = slice(start, start + int(lengths[b]))
        arrays["prompts"][b, before] = row.prompt_ids
        arrays["responses"][b, own] = row.response_ids
        arrays["attention_mask"][b, before] = 1
        arrays["attention_mask"][b, width + own.start : width + own.stop] = 1
        arrays["response_mask"][b, own] = row.response_mask
        arrays["advantages"][b, own] = row.advantages
        if "logprobs" in arrays:
            arrays["logprobs"][b, own] = row.logprobs
    return arrays


def _width(name: str, lengths: npt.NDArray[np.int64], given: int | None) -> int:
    longest = int(lengths.max())
    if given is None:
        return longest
    if longest > given:
        raise InputError(
            f"row {int(lengths.argmax())} has a {name} of {longest} tokens: more than {name}_length={given}"
        )
    return given
