"""Our credit kernels against a public peer and a plain numpy loop, on the same arrays in one process.

    python bench/kernels.py            no network, under two minutes; only the numpy twin where verl is not installed

The peer is verl 0.9.1 (`verl.trainer.ppo.core_algos`), in an environment of its own:

    python3.11 -m venv /tmp/venv-verl && . /tmp/venv-verl/bin/activate
    pip install torch==2.13.0 tensordict omegaconf codetiming orjson transformers ray
    pip install --no-deps verl==0.9.1
    pip install -e .

Like for like: the same padded float32 rows in and out, GAE whitened over the batch by all. verl's functions also fill
positions off the mask with numbers nobody reads; ours write 0 there. Ratios are medians of interleaved rounds, garbage
collected before each timing; ours on one thread, torch on all it wants. They are published, and held against the goals,
only from a quiet machine: the load average is printed, and above 1.5 nothing is held against anything.
"""

from __future__ import annotations

import gc
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt

from trajcredit import kernels
from trajcredit.arrays import I64
from trajcredit.kernels.padded import F32
from trajcredit.kernels.whitening import WHITENING, padded_whiten

SHAPES = [(1024, 8192), (4096, 393), (16384, 48)]
"""Responses of tokens; the last is as long as trajectories have spans."""
GOALS = {
    ("gae", (1024, 8192)): 40.0,
    ("gae", (4096, 393)): 20.0,
    ("grpo", (1024, 8192)): 0.8,
    ("grpo", (4096, 393)): 8.0,
}
"""How many times faster than verl's GAE and vectorised GRPO; ratios to the other peers have no goal."""
GAMMA, LAM, EPS = 0.99, 0.95, 1e-6
ROUNDS = 7
QUIET = 1.5


@dataclass(frozen=True)
class Tokens:
    """Rows of sampled tokens with tool results between them and padding behind; eight rows a group."""

    rewards: F32
    values: F32
    mask: I64
    uid: npt.NDArray[np.object_]


def tokens(rows: int, length: int) -> Tokens:
    """Rows of a quarter to the full length, every third stretch of 50 tokens a tool result, a reward at the end."""
    random = np.random.default_rng(0)
    position = np.arange(length)
    inside = position < random.integers(length // 4, length + 1, rows)[:, None]
    mask = (inside & (position // 50 % 3 != 2)).astype(np.int64)
    rewards = np.zeros((rows, length), dtype=np.float32)
    last = length - 1 - mask[:, ::-1].argmax(axis=1)
    rewards[np.arange(rows), last] = random.random(rows, dtype=np.float32)
    uid = np.array([f"prompt-{row // 8}" for row in range(rows)], dtype=object)
    return Tokens(rewards, random.random((rows, length), dtype=np.float32), mask, uid)


# ---------------------------------------------------------------- ours


def our_gae(t: Tokens) -> F32:
    """Whitened advantages; returns are computed too, as the peers do."""
    return kernels.padded_gae(t.rewards, t.values, t.mask, GAMMA, LAM)[0]


def our_grpo(t: Tokens) -> F32:
    """Row sums, group numbers from names, mean and spread, back to the tokens."""
    seen: dict[str, int] = {}
    group = np.fromiter((seen.setdefault(uid, len(seen)) for uid in t.uid), np.int64, len(t.uid))
    centred = kernels.centre(kernels.padded_sums(t.rewards), group)
    return kernels.padded_broadcast(kernels.scaled(centred, kernels.spread(centred, group, 1), EPS), t.mask)


def our_rloo(t: Tokens) -> F32:
    """Row sums less the mean of the others of the group, back to the tokens."""
    seen: dict[str, int] = {}
    group = np.fromiter((seen.setdefault(uid, len(seen)) for uid in t.uid), np.int64, len(t.uid))
    centred = kernels.centre(kernels.padded_sums(t.rewards), group)
    return kernels.padded_broadcast(kernels.leave_one_out(centred, group), t.mask)


def our_whiten(t: Tokens) -> F32:
    """Values whitened over the mask."""
    return padded_whiten(t.values, t.mask, WHITENING["verl"])


OURS: dict[str, Callable[[Tokens], F32]] = {"gae": our_gae, "grpo": our_grpo, "rloo": our_rloo, "whiten": our_whiten}


# ---------------------------------------------------------------- peers


def numpy_gae(t: Tokens) -> F32:
    """One numpy step a token position, all rows at once: what one writes first."""
    advantages = np.zeros_like(t.rewards)
    running, following = np.zeros(len(t.mask)), np.zeros(len(t.mask))
    for j in reversed(range(t.mask.shape[1])):
        on = t.mask[:, j] != 0
        step = t.rewards[:, j] + GAMMA * following - t.values[:, j] + GAMMA * LAM * running
        running = np.where(on, step, running)
        following = np.where(on, t.values[:, j], following)
        advantages[:, j] = np.where(on, running, 0)
    returns = advantages + t.values * (t.mask != 0)
    assert returns.shape == advantages.shape
    sampled = advantages[t.mask != 0]
    white = (advantages - sampled.mean()) / np.sqrt(sampled.var(ddof=1) + 1e-8)
    whitened: F32 = np.where(t.mask != 0, white, np.float32(0))
    return whitened


def numpy_grpo(t: Tokens) -> F32:
    """Sorted group names and numpy statistics."""
    scores = t.rewards.sum(axis=1, dtype=np.float64)
    _, group = np.unique(t.uid, return_inverse=True)
    count = np.bincount(group)
    centred = scores - (np.bincount(group, scores) / count)[group]
    spread = np.sqrt(np.bincount(group, centred**2) / (count - 1))
    scalar = (centred / (spread[group] + EPS)).astype(np.float32)
    copied: F32 = np.where(t.mask != 0, scalar[:, None], np.float32(0))
    return copied


def numpy_rloo(t: Tokens) -> F32:
    """Sorted group names and numpy sums."""
    scores = t.rewards.sum(axis=1, dtype=np.float64)
    _, group = np.unique(t.uid, return_inverse=True)
    count = np.bincount(group)[group]
    others = (np.bincount(group, scores)[group] - scores) / np.maximum(count - 1, 1)
    scalar = np.where(count > 1, scores - others, 0).astype(np.float32)
    copied: F32 = np.where(t.mask != 0, scalar[:, None], np.float32(0))
    return copied


def numpy_whiten(t: Tokens) -> F32:
    """Mean and sample variance of what the mask picks."""
    on = t.mask != 0
    sampled = t.values[on].astype(np.float64)
    white = (t.values - sampled.mean()) / np.sqrt(sampled.var(ddof=1) + 1e-8)
    whitened: F32 = np.where(on, white, 0).astype(np.float32)
    return whitened


TWINS: dict[str, Callable[[Tokens], F32]] = {
    "gae": numpy_gae,
    "grpo": numpy_grpo,
    "rloo": numpy_rloo,
    "whiten": numpy_whiten,
}


def verl_peers() -> dict[str, dict[str, Callable[[Tokens], F32]]]:
    """verl's own functions by kernel, on tensors that share our memory; empty where verl is not installed."""
    try:
        torch: Any = importlib.import_module("torch")
        algos: Any = importlib.import_module("verl.trainer.ppo.core_algos")
        functional: Any = importlib.import_module("verl.utils.torch_functional")
    except ImportError as error:
        print(f"verl is not here ({error}): only the numpy twin is compared; the docstring says how to install it")
        return {}
    version = importlib.import_module("verl").__version__
    print(f"verl {version}, torch {torch.__version__} on {torch.get_num_threads()} threads")

    def gae(t: Tokens) -> F32:
        rewards, values, mask = (torch.from_numpy(column) for column in (t.rewards, t.values, t.mask))
        result: F32 = algos.compute_gae_advantage_return(rewards, values, mask, GAMMA, LAM)[0].numpy()
        return result

    def rloo(estimator: Any) -> Callable[[Tokens], F32]:
        def score(t: Tokens) -> F32:
            result: F32 = estimator(torch.from_numpy(t.rewards), torch.from_numpy(t.mask), t.uid)[0].numpy()
            return result

        return score

    def whiten(t: Tokens) -> F32:
        result: F32 = functional.masked_whiten(torch.from_numpy(t.values), torch.from_numpy(t.mask)).numpy()
        return result

    def grpo(estimator: Any) -> Callable[[Tokens], F32]:
        def score(t: Tokens) -> F32:
            result: F32 = estimator(torch.from_numpy(t.rewards), torch.from_numpy(t.mask), t.uid, EPS)[0].numpy()
            return result

        return score

    vectorized, loop = algos.compute_grpo_vectorized_outcome_advantage, algos.compute_grpo_outcome_advantage
    fast, slow = algos.compute_rloo_vectorized_outcome_advantage, algos.compute_rloo_outcome_advantage
    return {
        "gae": {"verl": gae},
        "grpo": {"verl": grpo(vectorized), "verl loop": grpo(loop)},
        "rloo": {"verl": rloo(fast), "verl loop": rloo(slow)},
        "whiten": {"verl": whiten},
    }


# ---------------------------------------------------------------- the comparison


def medians(contestants: dict[str, Callable[[Tokens], F32]], t: Tokens) -> dict[str, float]:
    """Median seconds of each, in interleaved rounds after one warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for function in contestants.values():
        function(t)
    for _ in range(ROUNDS):
        for name, function in contestants.items():
            gc.collect()
            start = time.perf_counter()
            function(t)
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(took) for name, took in seconds.items()}


def main() -> int:
    """Print one line a comparison; 1 where a quiet machine misses a goal."""
    load = os.getloadavg()[0]
    quiet = load <= QUIET
    print(f"load average {load:.2f} on {os.cpu_count()} cores: goals are {'held' if quiet else 'NOT held (above 1.5)'}")
    verl = verl_peers()
    print(f"{'kernel':8}{'rows x tokens':16}{'peer':11}{'peer ms':>10}{'ours ms':>10}{'ratio':>8}{'goal':>8}")
    missed = 0
    for shape in SHAPES:
        t = tokens(*shape)
        on = t.mask != 0
        for kernel, function in OURS.items():
            peers = {"numpy": TWINS[kernel], **verl.get(kernel, {})}
            for peer in peers.values():
                np.testing.assert_allclose(peer(t)[on], function(t)[on], rtol=1e-3, atol=1e-4)
            took = medians({"ours": function, **peers}, t)
            for name in peers:
                ratio, goal = took[name] / took["ours"], GOALS.get((kernel, shape)) if name == "verl" else None
                short = goal is not None and ratio < goal
                missed += short
                times = f"{1e3 * took[name]:10.1f}{1e3 * took['ours']:10.1f}{ratio:7.1f}x"
                against = "" if goal is None else f"{goal:7.1f}x{' below' if short else ''}"
                print(f"{kernel:8}{f'{shape[0]} x {shape[1]}':16}{name:11}{times}{against}")
    return 1 if missed and quiet else 0


if __name__ == "__main__":
    sys.exit(main())
