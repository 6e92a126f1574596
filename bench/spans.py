"""Span-level kernels on flat ragged columns against verl's functions on the same numbers, padded, all in float64.

    python bench/spans.py              no network, some seconds; needs verl, see kernels.py

Padding is made before the clock starts, yet verl also goes over it: what comes out counts the layout with the kernel,
and is no claim about kernels alone. Those of kernels.py are, padded rows in and out on both sides.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import numpy.typing as npt
from measuring import Measure, NotHere, best

from trajcredit import kernels
from trajcredit.arrays import BOOL, F64, I64, offsets_of

__all__ = ["flat"]

TRAJECTORIES, MOST = 4096, 96
GAMMA, LAM, EPS = 0.99, 0.95, 1e-6


@dataclass(frozen=True)
class Spans:
    """Ragged columns f64[N], bool[N] with offsets i64[T+1]; eight trajectories a group; and where N lie in rows."""

    rewards: F64
    values: F64
    mask: BOOL
    offsets: I64
    group: I64
    inside: BOOL
    uid: npt.NDArray[np.object_]

    def padded(self, column: F64 | BOOL) -> Any:
        """A column as rows [T, longest], zeros behind."""
        rows = np.zeros(self.inside.shape, dtype=column.dtype)
        rows[self.inside] = column
        return rows

    @property
    def owner(self) -> I64:
        """i64[N]: whose each span is."""
        return np.repeat(np.arange(len(self.group)), np.diff(self.offsets))


def spans() -> Spans:
    """Trajectories of 1 to MOST spans, every third an observation, the reward on the last action."""
    random = np.random.default_rng(0)
    lengths = random.integers(1, MOST + 1, TRAJECTORIES)
    offsets = offsets_of(lengths.tolist())
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    mask = place % 3 != 2
    rewards = np.zeros(len(place))
    rewards[kernels.last_actions(mask, offsets)] = random.random(TRAJECTORIES)
    group = np.arange(TRAJECTORIES) // 8
    uid = np.array([f"prompt-{g}" for g in group], dtype=object)
    inside = np.arange(lengths.max()) < lengths[:, None]
    return Spans(rewards, random.random(len(place)), mask, offsets, group, inside, uid)


def ours(s: Spans) -> dict[str, Callable[[], F64]]:
    """Advantages f64[N] by kernel; only those of actions are read."""
    none, owner = np.zeros(TRAJECTORIES), s.owner

    def centred() -> F64:
        return kernels.centre(np.add.reduceat(s.rewards, s.offsets[:-1]), s.group)

    def gae() -> F64:
        found = kernels.gae(s.rewards, s.values, s.mask, none, s.offsets, GAMMA, LAM)
        return kernels.whiten(found, s.mask, kernels.WHITENING["verl"])

    def grpo() -> F64:
        lead = centred()
        found: F64 = kernels.scaled(lead, kernels.spread(lead, s.group, 1), EPS)[owner]
        return found

    def rloo() -> F64:
        found: F64 = kernels.leave_one_out(centred(), s.group)[owner]
        return found

    return {
        "gae": gae,
        "grpo": grpo,
        "rloo": rloo,
        "whiten": lambda: kernels.whiten(s.values, s.mask, kernels.WHITENING["verl"]),
    }


def theirs(s: Spans) -> dict[str, Callable[[], Any]]:
    """The same by verl on padded rows; ImportError where it is not installed."""
    torch: Any = importlib.import_module("torch")
    algos: Any = importlib.import_module("verl.trainer.ppo.core_algos")
    functional: Any = importlib.import_module("verl.utils.torch_functional")
    rewards, values, mask = (torch.from_numpy(s.padded(column)) for column in (s.rewards, s.values, s.mask))
    mask = mask.to(torch.float64)
    return {
        "gae": lambda: algos.compute_gae_advantage_return(rewards, values, mask, GAMMA, LAM)[0],
        "grpo": lambda: algos.compute_grpo_vectorized_outcome_advantage(rewards, mask, s.uid, EPS)[0],
        "rloo": lambda: algos.compute_rloo_vectorized_outcome_advantage(rewards, mask, s.uid)[0],
        "whiten": lambda: functional.masked_whiten(values, mask),
    }


def flat() -> Iterator[Measure | NotHere]:
    """Each kernel: the same numbers first, then how many times as fast."""
    s = spans()
    try:
        peers = theirs(s)
    except ImportError as error:
        yield NotHere(f"verl 0.9.1 at span level ({error.name})")
        return
    for kernel, mine in ours(s).items():
        peer = peers[kernel]
        got, wanted = mine()[s.mask], peer().numpy()[s.inside][s.mask]
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
        took = best({"ours": mine, "verl": peer}, ["verl"])
        name = f"{kernel} of {len(s.mask):,} spans, flat, against verl padded"
        yield Measure(name, took["verl"] / took["ours"], "higher", "x", None, len(s.mask) / took["ours"])


def main() -> None:
    """Print one line a kernel."""
    print(f"load average {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    for found in flat():
        line = f"{found.name}: not here" if isinstance(found, NotHere) else f"{found.name:<56} {found.value:8.1f} x"
        print(line)


if __name__ == "__main__":
    main()
