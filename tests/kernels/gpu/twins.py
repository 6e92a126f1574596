"""A kernel and its torch twin on the same arguments, on every device there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import settings

from trajcredit.kernels import gpu

__all__ = ["CLOSE", "devices", "few", "here", "same", "tensors"]

CLOSE = 1e-12
"""Relative to the largest number compared; what is asked for is 1e-6."""

torch.set_num_threads(1)

devices = pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param(
            "cuda",
            marks=[
                pytest.mark.gpu,
                pytest.mark.skipif(
                    not torch.cuda.is_available(), reason="no CUDA device: the twins were not run on one"
                ),
            ],
        ),
    ],
)
few = settings(max_examples=25)


def tensors(arguments: tuple[Any, ...], device: str) -> Any:
    """Arrays as tensors on the device; all else as it is."""
    return [torch.from_numpy(a).to(device) if isinstance(a, np.ndarray) else a for a in arguments]


def here(results: Any) -> tuple[Any, ...]:
    """One result or several, as arrays."""
    several = results if isinstance(results, tuple) else (results,)
    return tuple(r.cpu().numpy() if isinstance(r, torch.Tensor) else r for r in several)


def same(kernel: Callable[..., Any], device: str, *arguments: Any, rtol: float = CLOSE) -> tuple[Any, ...]:
    """Run both, compare shape, dtype, where nothing is, and the numbers; what the twin gave, as arrays."""
    twin = getattr(gpu, kernel.__name__)
    got, wanted = here(twin(*tensors(arguments, device))), here(kernel(*arguments))
    assert len(got) == len(wanted)
    for mine, theirs in zip(got, wanted, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), kernel.__name__
        if theirs.dtype.kind != "f":
            assert mine.tolist() == theirs.tolist(), kernel.__name__
            continue
        largest = float(np.nanmax(np.abs(theirs), initial=1.0))
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * largest, err_msg=kernel.__name__)
    return got
