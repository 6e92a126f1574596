"""Arrays to a device and back, for callers that know nothing of torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from trajcredit.errors import InputError

__all__ = ["Tensor", "fetched", "parameters", "resident", "stacked", "usable"]

Tensor: TypeAlias = torch.Tensor


def usable(device: str) -> str:
    """The device; InputError where this machine has none of that name."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        said = str(error).splitlines()[0]
        raise InputError(f"device {device!r}: expected cpu, or a device that torch can use here: {said}") from error
    return device


def resident(array: npt.NDArray[Any], device: str) -> Tensor:
    """A copy of an array on the device, of the same dtype."""
    return torch.from_numpy(np.array(array)).to(device)


def parameters(numbers: Iterable[float], device: str) -> Tensor:
    """f64[S, 1]: one number a setting, as kernels take it that score many settings in one pass."""
    return torch.tensor(list(numbers), dtype=torch.float64, device=device)[:, None]


def stacked(rows: Iterable[Tensor]) -> Tensor:
    """[S, ...] of S tensors of one shape."""
    return torch.stack(list(rows))


def fetched(tensor: Tensor) -> npt.NDArray[Any]:
    """The tensor as an array of its dtype."""
    found: npt.NDArray[Any] = tensor.cpu().numpy()
    return found
