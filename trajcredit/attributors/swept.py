"""Many settings of attributors over one batch that stays on the device, settings of one kind in one pass.

Only attributors that are kernels and nothing else can be swept: rtg, gae, grpo, rloo, and dag over whatever base. The
numbers are those of each setting by itself, up to the order of additions (`kernels.gpu`); notes are left to `score`.
On a CPU the numba kernels are faster setting by setting (`bench/gpu.py`): a pass is for a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from trajcredit.arrays import F64
from trajcredit.attributors.base import Attributor
from trajcredit.attributors.dag import Dag
from trajcredit.attributors.flavours import FLAVOURS, Flavour, Lone
from trajcredit.attributors.gae import Gae
from trajcredit.attributors.grpo import Grpo
from trajcredit.attributors.rloo import Rloo
from trajcredit.attributors.rtg import Rtg
from trajcredit.batching import Batch

if TYPE_CHECKING:
    from trajcredit.kernels.gpu.moves import Tensor

__all__ = ["Swept", "refusal", "swept"]

Both: TypeAlias = "tuple[Tensor, Tensor]"
Swept: TypeAlias = tuple[int, F64, F64]
"""Position of a setting, its credit f64[N], its advantage f64[N]."""

AT_ONCE = 20_000_000
"""Numbers of one pass: settings x spans; more settings of a kind are taken in several passes."""


def refusal(attributor: Attributor) -> str | None:
    """Why an attributor cannot be swept; null where it can."""
    if not isinstance(attributor, Rtg | Gae | Grpo | Rloo | Dag):
        return "it is not one of rtg, gae, grpo, rloo, dag, which are kernels and nothing else: use `score`"
    if isinstance(attributor, Gae | Rloo) and attributor.whiten:
        return "whiten=true takes statistics of the credits themselves: use `score`"
    return None


def swept(batch: Batch, settings: Sequence[Attributor], device: str = "cpu") -> Iterator[Swept]:
    """Credit and advantage of every setting; the first setting comes first, the others kind by kind.

    settings  none with a `refusal`
    device    as torch names it; InputError of one that is not there
    """
    from trajcredit.kernels.gpu.moves import fetched, usable

    here = _Resident(batch, usable(device))
    kinds: dict[Attributor, list[int]] = {}
    for s, setting in enumerate(settings):
        kinds.setdefault(_kind(setting), []).append(s)
    at_once = max(1, AT_ONCE // max(batch.n_spans, 1))
    for places in kinds.values():
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            credit, advantage = (fetched(column) for column in here.score([settings[s] for s in some]))
            yield from zip(some, credit, advantage, strict=True)


def _kind(setting: Attributor) -> Attributor:
    """What settings of one pass have in common: all but what the pass takes a column of."""
    if isinstance(setting, Rtg):
        return Rtg()
    if isinstance(setting, Gae):
        return replace(setting, gamma=1.0, lam=1.0)
    if isinstance(setting, Dag):
        return replace(setting, gamma=1.0, off_path=0.0)
    return Grpo() if isinstance(setting, Grpo) else Rloo()


class _Resident:
    """The columns of a batch on a device."""

    def __init__(self, batch: Batch, device: str) -> None:
        from trajcredit.kernels.gpu.moves import resident

        self.batch, self.device = batch, device
        self.mask, self.offsets = resident(batch.action_mask, device), resident(batch.span_offsets, device)
        self.rewards, self.outcome = resident(batch.rewards, device), resident(batch.outcome, device)
        self.group = resident(batch.group, device)
        self.bases: dict[str, Both] = {}

    def score(self, settings: Sequence[Attributor]) -> Both:
        """Credit and advantage [S, N] of settings of one kind."""
        first = settings[0]
        if isinstance(first, Rtg):
            return self._rtg(cast("Sequence[Rtg]", settings))
        if isinstance(first, Gae):
            return self._gae(cast("Sequence[Gae]", settings))
        if isinstance(first, Dag):
            return self._dag(cast("Sequence[Dag]", settings))
        return self._groups(cast("Sequence[Grpo | Rloo]", settings))

    def _rtg(self, settings: Sequence[Rtg]) -> Both:
        from trajcredit.kernels import gpu
        from trajcredit.kernels.gpu.moves import parameters

        gamma = parameters([s.gamma for s in settings], self.device)
        credit = gpu.reward_to_go(self.rewards, self.mask, self.offsets, gamma)
        return credit, credit

    def _gae(self, settings: Sequence[Gae]) -> Both:
        from trajcredit.kernels import gpu
        from trajcredit.kernels.gpu.moves import parameters, resident

        first = settings[0]
        values, bootstrap, _ = (resident(column, self.device) for column in first._forecasts(self.batch))
        gamma, lam = (
            parameters(column, self.device) for column in zip(*((s.gamma, s.lam) for s in settings), strict=True)
        )
        if first.unit == "turn":
            turn = resident(self.batch.turn, self.device)
            credit = gpu.gae_by_turn(self.rewards, values, self.mask, turn, bootstrap, self.offsets, gamma, lam)
        else:
            stepped_on = resident(first._stepped_on(self.batch), self.device)
            credit = gpu.gae(self.rewards, values, stepped_on, bootstrap, self.offsets, gamma, lam)
        credit = credit.where(self.mask, np.nan)
        return credit, credit

    def _groups(self, settings: Sequence[Grpo | Rloo]) -> Both:
        from trajcredit.kernels import gpu
        from trajcredit.kernels.gpu.moves import stacked

        scalars = [self._against_group(*_row(s)) for s in settings]
        credit, advantage = (stacked(column) for column in zip(*scalars, strict=True))
        return gpu.broadcast(credit, self.mask, self.offsets), gpu.broadcast(advantage, self.mask, self.offsets)

    def _against_group(self, flavour: Flavour, lone: Lone) -> Both:
        """What `flavours.group_relative` says, on the device."""
        from trajcredit.kernels import gpu

        outcome, everyone = self.outcome, self.group * 0
        against = everyone if flavour.baseline == "batch" else self.group
        centred = gpu.centre(outcome, against)
        credit = gpu.leave_one_out(centred, against) if flavour.baseline == "siblings" else centred
        if lone == "raw":
            credit = credit.where(gpu.members(outcome, against) != 1, outcome)
        if flavour.spread == "none":
            return credit, credit
        within = everyone if flavour.spread == "batch" else self.group
        if flavour.spread == "siblings":
            found = gpu.sibling_spread(gpu.centre(outcome, within), within, flavour.ddof)
        else:
            about = credit if flavour.of == "credits" else gpu.centre(outcome, within)
            found = gpu.spread(about, within, flavour.ddof)
        found = found.where(gpu.members(outcome, within) != 1, 1.0)
        return credit, gpu.scaled(credit, found, flavour.eps)

    def _dag(self, settings: Sequence[Dag]) -> Both:
        from trajcredit.kernels import gpu
        from trajcredit.kernels.gpu.moves import parameters, resident

        first, batch = settings[0], self.batch
        sinks, gain, offsets, parents = (
            resident(column, self.device)
            for column in (first._sink_mask(batch), first._gain(batch), batch.parent_offsets, batch.parents)
        )
        gamma = parameters([s.gamma for s in settings], self.device)
        off_path = parameters([s.off_path for s in settings], self.device)
        factor, hops = gpu.best_path(sinks, self.mask, offsets, parents, gain, gamma)
        factor = factor.where(hops >= 0, off_path)
        credit, advantage = self._base(first)
        return credit * factor + 0.0, advantage * factor + 0.0  # + 0.0 turns -0.0 into 0.0

    def _base(self, dag: Dag) -> Both:
        """Credit and advantage f64[N] of a base at its defaults: once, by itself, whatever it is."""
        from trajcredit.kernels.gpu.moves import resident

        if dag.base not in self.bases:
            found = dag._base()(self.batch)
            self.bases[dag.base] = resident(found.credit, self.device), resident(found.advantage, self.device)
        return self.bases[dag.base]


def _row(setting: Grpo | Rloo) -> tuple[Flavour, Lone]:
    """Baseline and spread, and what a group of one gets."""
    if isinstance(setting, Grpo):
        return setting._row(), setting._lone()
    return replace(FLAVOURS[setting.flavour], baseline="siblings", spread="none"), setting._lone()
