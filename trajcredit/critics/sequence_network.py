"""The network of the sequence critic: a gated recurrent unit over decisions, many trained side by side.

Trajectories are packed, as in torch's packed sequences: all first decisions, then all second ones, and so on, longest
trajectory first. There is no padding, so none can matter. One thread and one seed: the same numbers give the same bits.
torch is imported where it is used: programs that need no such critic do not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trajcredit.arrays import BOOL, F64, I64
from trajcredit.critics.columns import F32

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["HIDDEN", "Packed", "Trained", "forecasts", "packed", "shapes", "train"]

HIDDEN = 8
STEPS = 60
PATIENCE = 12
"""Steps without a better forecast of what is held back, after which training ends."""
RATE, DECAY = 0.005, 0.1
"""Learning rate and weight decay (Loshchilov and Hutter 2019)."""
SEED = 0
SCALE = 3.0
"""What readings are multiplied by, so that they are of order one: they are shares of a standard deviation."""
BETTER = 1e-4
"""Squared error, of a variance of one, that a forecast must gain to count as better."""
ON_THE_WAY = 0.5
"""Weight of the error before and after each choice, mean of a trajectory's, beside that of the sum of its choices."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """D decisions of T trajectories in packed order.

    order   i64[D]  decision at each packed place; back i64[D] the place of each decision
    sizes           trajectories that have a first, a second, ... decision
    first   i64[T]  first decision of each trajectory that has any, `owner` i64[D] numbered among those
    step    i64[D]  number of each decision within its trajectory
    """

    order: I64
    back: I64
    sizes: tuple[int, ...]
    first: I64
    owner: I64
    step: I64


def packed(owner: I64) -> Packed:
    """owner  i64[D]  trajectory of each decision, ascending"""
    _, first, number, length = np.unique(owner, return_index=True, return_inverse=True, return_counts=True)
    step = np.arange(len(owner)) - first[number]
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(-length, kind="stable")] = np.arange(len(first))
    order = np.lexsort((place[number], step))
    back = np.empty(len(owner), dtype=np.int64)
    back[order] = np.arange(len(owner))
    sizes = tuple(np.bincount(step).tolist()) if len(owner) else ()
    return Packed(order, back, sizes, first.astype(np.int64), number.astype(np.int64), step)


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """N networks f32[N, ...] by name (`shapes`), and what they gained: out-of-fold R2 of the sum of choices."""

    weights: dict[str, F32]
    skill: float


def train(seen: Sequence[F32], target: Sequence[F64], part: Sequence[I64], owner: I64, held: int) -> list[Trained]:
    """For each of F folds `held` networks, each stopped by another part of the training trajectories.

    seen    f32[D, K+1] x F  readings; target f64[T] x F in their units
    part    i64[T] x F       part of each training trajectory, -1 of others; parts 0 to held - 1 are held back in turn
    owner   i64[D]           trajectory of each decision, numbers 0 to T - 1 ascending, all of them with decisions
    returns                  weights of the step whose forecasts of the parts held back were best, 0 included: there
                             the forecast is the linear one of the readings
    """
    import torch

    with _one_thread():
        order = packed(owner)
        folds = [f for f in range(len(seen)) for _ in range(held)]
        reads = torch.from_numpy(np.stack(list(seen)))[folds]
        wanted = torch.from_numpy(np.stack(list(target)).astype(np.float32))[folds]
        back = np.stack([part[f] == k for f in range(len(seen)) for k in range(held)])
        learns = np.stack([part[f] >= 0 for f in folds]) & ~back
        loss = _Loss(order, wanted, learns, back)
        network = _Network(order, reads)
        weights = _drawn(len(folds), reads.shape[-1])
        optimizer = torch.optim.AdamW(list(weights.values()), lr=RATE, weight_decay=DECAY)
        kept = {name: one.detach().clone() for name, one in weights.items()}
        best = torch.full((len(seen),), torch.inf)
        history: list[Tensor] = []
        since = torch.zeros(len(seen))
        for _ in range(STEPS):
            before, added = network(weights)
            whole, on_the_way = loss(before, added)
            with torch.no_grad():
                errors = loss.held_back(whole + on_the_way)
                history.append(torch.stack([errors, loss.held_back(whole)]))
                error = errors.reshape(-1, held).sum(1) / loss.n_back(held)
                better = (error < best - BETTER) & (since <= PATIENCE)  # no fold trains on for another's sake
                best = torch.where(better, error, best)
                chosen = better.repeat_interleave(held)
                for name, one in weights.items():
                    kept[name][chosen] = one.detach()[chosen]
            since = torch.where(better, 0.0, since + 1)
            if bool((since > PATIENCE).all()):
                break
            optimizer.zero_grad()
            loss.learning(whole + on_the_way).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        stacked = {name: one.numpy() for name, one in kept.items()}
        skill = loss.skill(torch.stack(history), held)
        return [
            Trained({name: one[f * held : (f + 1) * held] for name, one in stacked.items()}, float(skill[f]))
            for f in range(len(seen))
        ]


def forecasts(weights: dict[str, F32], reads: F32, owner: I64) -> tuple[F64, F64]:
    """Mean forecasts f64[D] of some networks before each choice, and what the choice adds; readings f32[D, K+1]."""
    import torch

    with _one_thread(), torch.no_grad():
        n = len(weights["input"])
        network = _Network(packed(owner), torch.from_numpy(reads).expand(n, *reads.shape))
        before, added = network({name: torch.from_numpy(one) for name, one in weights.items()})
        return before.mean(0).double().numpy(), added.mean(0).double().numpy()


class _Network:
    """The forward pass over decisions in packed order; reads f32[N, D, K+1]."""

    def __init__(self, order: Packed, reads: Tensor) -> None:
        import torch

        self.order, self.back = order, torch.from_numpy(order.back)
        self.first, self.owner = torch.from_numpy(order.first), torch.from_numpy(order.owner)
        reads = reads[:, torch.from_numpy(order.order)]
        self.choice = reads[..., :-1]
        step = torch.from_numpy(np.log1p(order.step[order.order])).float()
        place = torch.stack([step, torch.ones_like(step)], 1).expand(len(reads), -1, -1)
        total = self.choice.sum(-1, keepdim=True)
        self.input = torch.cat([reads * SCALE, total * SCALE, place], -1)
        self.state = torch.cat([reads[..., -1:] * SCALE, place], -1)

    def __call__(self, weights: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Forecast before each choice f32[N, D], and what the choice adds, trajectory by trajectory."""
        import torch

        memory = torch.cat([self._memory(weights), self.state], -1)
        luck = torch.bmm(torch.tanh(torch.bmm(memory, weights["luck_in"])), weights["luck_out"])[..., 0]
        gain = torch.bmm(torch.tanh(torch.bmm(memory, weights["gain_in"])), weights["gain_out"])
        added = (self.choice * (1 + gain)).sum(-1)[:, self.back]
        total = added.double().cumsum(1)  # double, so that other trajectories leave no trace in it
        so_far = total - added - (total - added)[:, self.first][:, self.owner]
        return so_far.float() + luck[:, self.back], added

    def _memory(self, weights: dict[str, Tensor]) -> Tensor:
        """What the unit remembers before each decision, f32[N, D, HIDDEN] (Cho et al. 2014)."""
        import torch

        gates = torch.bmm(self.input, weights["input"]) + weights["bias"]
        now = torch.zeros(len(gates), len(self.order.first), HIDDEN)
        before = []
        for given in torch.split(gates, list(self.order.sizes), 1):  # slices would each be turned back at full length
            last = now[:, : given.shape[1]]
            before.append(last)
            own = torch.bmm(last, weights["recurrent"])
            reset, keep = torch.sigmoid(given[..., : 2 * HIDDEN] + own[..., : 2 * HIDDEN]).chunk(2, -1)
            new = torch.tanh(given[..., 2 * HIDDEN :] + reset * own[..., 2 * HIDDEN :])
            now = new + keep * (last - new)
        return torch.cat(before, 1)


class _Loss:
    """Squared errors of N networks: of the sum of the choices of a trajectory, and of the forecasts on its way."""

    def __init__(self, order: Packed, wanted: Tensor, learns: BOOL, back: BOOL) -> None:
        import torch

        self.owner, self.wanted = torch.from_numpy(order.owner), wanted
        self.length = torch.bincount(self.owner).float()
        self.learns, self.back = torch.from_numpy(learns).float(), torch.from_numpy(back).float()

    def __call__(self, before: Tensor, added: Tensor) -> tuple[Tensor, Tensor]:
        """f32[N, T] each."""
        wanted = self.wanted[:, self.owner]
        on_the_way = self._sums((wanted - before) ** 2 + (wanted - before - added) ** 2) / self.length
        return (self.wanted - self._sums(added)) ** 2, ON_THE_WAY * on_the_way

    def learning(self, errors: Tensor) -> Tensor:
        """What training makes small: the mean over what each network learns from, summed over networks."""
        return ((errors * self.learns).sum(1) / self.learns.sum(1)).sum()

    def held_back(self, errors: Tensor) -> Tensor:
        """Errors f32[N, T] added over what each network does not learn from, f32[N]."""
        return (errors * self.back).sum(1)

    def skill(self, history: Tensor, held: int) -> Tensor:
        """R2 of the sum of choices over the parts held back, f32[F]; 0 where their outcomes do not differ.

        history  f32[steps, 2, N]  errors held back at every step: of all forecasts, and of the sum of choices

        Each part is looked at as of the step that is best on the other parts: the step that is best on itself would
        flatter it.
        """
        every, whole = history.reshape(len(history), 2, -1, held).unbind(1)
        elsewhere = (every.sum(-1, keepdim=True) - every).argmin(0, keepdim=True)
        left = whole.gather(0, elsewhere)[0].sum(-1)
        power = self.held_back(self.wanted**2).reshape(-1, held).sum(1)
        return (1 - left / power.clamp_min(1e-30)) * (power > 0)

    def n_back(self, held: int) -> Tensor:
        """Trajectories held back, f32[F]."""
        return self.back.sum(1).reshape(-1, held).sum(1)

    def _sums(self, column: Tensor) -> Tensor:
        import torch

        return torch.zeros(len(column), len(self.length)).index_add(1, self.owner, column)


def _drawn(n: int, reads: int) -> dict[str, Tensor]:
    """The weights that N networks start from, all alike; what they put out is 0 until they have learnt."""
    import torch

    seed = torch.Generator().manual_seed(SEED)
    weights = {}
    for name, (rows, columns) in shapes(reads - 1).items():
        one = torch.randn(rows, columns, generator=seed) / rows**0.5
        if name in ("bias", "luck_out", "gain_out"):
            one = torch.zeros(rows, columns)
        weights[name] = one.repeat(n, 1, 1).requires_grad_()
    return weights


def shapes(kinds: int) -> dict[str, tuple[int, int]]:
    """Rows and columns of the weights of one network that reads so many kinds of features, in the order they are drawn;
    readings have one column more, what is put in three more than that."""
    return {
        "input": (kinds + 4, 3 * HIDDEN),
        "recurrent": (HIDDEN, 3 * HIDDEN),
        "bias": (1, 3 * HIDDEN),
        "luck_in": (HIDDEN + 3, HIDDEN),
        "luck_out": (HIDDEN, 1),
        "gain_in": (HIDDEN + 3, HIDDEN),
        "gain_out": (HIDDEN, kinds),
    }


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one order, whatever the machine has of cores."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
