"""Tinker (0.38): the exported file as Datums.

from trajcredit.integrations.tinker import datums, for_loss

data = [for_loss(datum) for datum in datums("advantages.jsonl")]
training.forward_backward(data, "importance_sampling").result()
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from trajcredit.integrations.reading import fits
from trajcredit.integrations.records import Record, fit, numbers, records, trainer

__all__ = ["datums", "for_loss"]

DTYPES = {"target_tokens": "int64", "logprobs": "float32", "advantages": "float32", "mask": "float32"}


def datums(path: str | Path) -> Iterator[Any]:
    """A `tinker.Datum` a line, with the four inputs that rLLM and tinker-cookbook give theirs.

    Entry j of each is about token j + 1. InputError names the line whose lists do not fit, or whose advantages are not
    0 where the mask is.
    """
    tinker = trainer("tinker", "tinker>=0.38")
    for _, record in records(path, "tinker", _check):
        ids, inputs = record["model_input"], record["loss_fn_inputs"]
        # Datum knows no dtype for `mask` (types/datum.py:31), so each input says its own
        given = {name: tinker.TensorData(data=inputs[name], dtype=dtype) for name, dtype in DTYPES.items()}
        yield tinker.Datum(model_input=tinker.ModelInput.from_ints(ids), loss_fn_inputs=given)


def for_loss(datum: Any) -> Any:
    """The datum without its mask, which the loss of the service does not take: masked tokens have advantage 0."""
    return replace(datum, loss_fn_inputs={name: data for name, data in datum.loss_fn_inputs.items() if name != "mask"})


def _check(place: str, record: Record) -> None:
    inputs = record["loss_fn_inputs"]
    fit(place, model_input=record["model_input"], **{name: inputs[name] for name in DTYPES})
    for name in DTYPES:
        numbers(place, name, inputs[name])
    fits(inputs["advantages"], inputs["mask"], place)
