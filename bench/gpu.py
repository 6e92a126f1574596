"""The torch twins of the kernels against the numba kernels, on the CPU and, where there is one, on a CUDA device.

    python bench/gpu.py                no network, about a minute; what was not run is said

Both get the same columns, resident where they run: nothing is copied to a device inside a timing, and a device is
waited for before a clock is read. Every result is compared with numba's first. Ratios are medians of interleaved
rounds, garbage collected before each timing; numba on one thread, torch on one too where it runs on the CPU: above 1
the twin is faster. The load average is printed: figures of a busy machine are not published.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import torch

from trajcredit import kernels
from trajcredit.arrays import offsets_of
from trajcredit.kernels import gpu
from trajcredit.kernels.visits import state_values

TRAJECTORIES, SPANS = 4096, 48
ROWS, TOKENS = 256, 4096
GAMMA, LAM = 0.99, 0.95
SETTINGS = 16
ROUNDS = 5


def arguments() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Kernels by name, each with its arguments: about 200 000 spans, a million tokens."""
    random = np.random.default_rng(0)
    offsets = offsets_of(random.integers(1, 2 * SPANS, TRAJECTORIES).tolist())
    n = int(offsets[-1])
    rewards, values, mask = random.normal(size=n), random.normal(size=n), random.random(n) < 0.6
    outcome, group = random.normal(size=TRAJECTORIES), np.arange(TRAJECTORIES) // 8
    centred = kernels.centre(outcome, group)
    first = np.repeat(offsets[:-1], np.diff(offsets))
    place = np.arange(n) - first
    inside = np.repeat(place > 0, 2)
    parents = np.repeat(first, 2) + (random.random(2 * n) * np.repeat(place, 2)).astype(np.int64)
    parent_offsets = offsets_of((2 * (place > 0)).tolist())
    parents, weight = parents[inside], random.random(int(inside.sum())) + 0.1
    gate, sinks = np.ones(len(parents), dtype=np.bool_), kernels.last_actions(mask, offsets)
    links = parent_offsets, parents
    deltas = np.where(mask, rewards, 0.0)
    rows = [random.normal(size=(ROWS, TOKENS)).astype(np.float32) for _ in range(2)]
    sampled = (random.random((ROWS, TOKENS)) < 0.6).astype(np.int64)
    node, trajectory = random.integers(0, n // 20, n), np.repeat(np.arange(TRAJECTORIES), np.diff(offsets))
    return {
        "reward_to_go": (kernels.reward_to_go, (rewards, mask, offsets, GAMMA)),
        "gae": (kernels.gae, (rewards, values, mask, outcome, offsets, GAMMA, LAM)),
        "centre": (kernels.centre, (outcome, group)),
        "spread": (kernels.spread, (centred, group, 1)),
        "sibling_spread": (kernels.sibling_spread, (centred, group, 1)),
        "whiten": (kernels.whiten, (values, mask, kernels.WHITENING["verl"])),
        "ancestors": (kernels.ancestors, (sinks, *links, gate)),
        "best_path": (kernels.best_path, (sinks, mask, *links, weight.clip(max=1.0), GAMMA)),
        "smeared": (kernels.smeared, (deltas, mask, *links, weight, gate, 0.5)),
        "state_values": (state_values, (rewards, node, trajectory, mask, 0.0)),
        "padded_gae": (kernels.padded_gae, (*rows, sampled, GAMMA, LAM)),
    }


def sweeps() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]:
    """Kernels over SETTINGS settings: numba one after the other, the twin all in one pass, and their arguments."""
    gammas = np.linspace(0.5, 1.0, SETTINGS)
    given = arguments()

    def one_by_one(kernel: Callable[..., Any], *columns: Any) -> Any:
        *rest, gamma = columns
        return np.stack([kernel(*rest, g)[0] if kernel is kernels.best_path else kernel(*rest, g) for g in gamma[:, 0]])

    def together(name: str, *columns: Any) -> Any:
        found = getattr(gpu, name)(*columns)
        return found[0] if name == "best_path" else found

    names = ("reward_to_go", "best_path")
    return {
        f"{name} x{SETTINGS}": (
            partial(one_by_one, given[name][0]),
            partial(together, name),
            (*given[name][1][:-1], gammas[:, None]),
        )
        for name in names
    }


def resident(given: tuple[Any, ...], device: str) -> tuple[Any, ...]:
    """Arrays as tensors on the device."""
    return tuple(torch.from_numpy(a).to(device) if isinstance(a, np.ndarray) else a for a in given)


def close(got: Any, wanted: Any) -> None:
    """AssertionError where a twin says something else than its kernel."""
    several = (got, wanted) if isinstance(wanted, tuple) else ((got,), (wanted,))
    for mine, theirs in zip(*several, strict=True):
        tolerance = 1e-6 if theirs.dtype == np.float64 else 1e-4
        np.testing.assert_allclose(mine.cpu().numpy(), theirs, rtol=tolerance, atol=tolerance)


def medians(contestants: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Median seconds of each, in interleaved rounds; all have run before."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, function in contestants.items():
            gc.collect()
            start = time.perf_counter()
            function()
            if name == "cuda":
                torch.cuda.synchronize()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(took) for name, took in seconds.items()}


def main() -> None:
    """Print one line a kernel."""
    torch.set_num_threads(1)
    cuda = torch.cuda.is_available()
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores; torch {torch.__version__}")
    print(torch.cuda.get_device_name() if cuda else "CUDA: NOT RUN, this machine has no CUDA device")
    print(f"{'kernel':18}{'numba ms':>10}{'torch CPU ms':>14}{'ratio':>8}{'CUDA ms':>10}{'ratio':>9}")
    singly = {name: (kernel, getattr(gpu, name), given) for name, (kernel, given) in arguments().items()}
    for name, (kernel, twin, given) in {**singly, **sweeps()}.items():
        contestants: dict[str, Callable[[], Any]] = {"numba": partial(kernel, *given)}
        for device in ("cpu", *(["cuda"] if cuda else [])):
            contestants[device] = partial(twin, *resident(given, device))
            close(contestants[device](), kernel(*given))
        took = medians(contestants)
        on_device = f"{1e3 * took['cuda']:10.2f}{took['numba'] / took['cuda']:8.2f}x" if cuda else f"{'not run':>10}"
        on_cpu = f"{1e3 * took['cpu']:14.2f}{took['numba'] / took['cpu']:7.2f}x"
        print(f"{name:18}{1e3 * took['numba']:10.2f}{on_cpu}{on_device}")


if __name__ == "__main__":
    main()
