"""Torch twins of `kernels.padded` and `kernels.padded_gaps`: padded float32 rows in and out, float64 between."""

from __future__ import annotations

import torch
from torch import Tensor

from trajcredit.kernels.gpu.gae import advantages
from trajcredit.kernels.gpu.segments import changes, column, linear, spread_out, totals
from trajcredit.kernels.padded_gaps import GAE_GAPS, READ, RESET, RETURN_GAPS, SKIP

__all__ = [
    "padded_advantages",
    "padded_advantages_by_turn",
    "padded_broadcast",
    "padded_gae",
    "padded_returns",
    "padded_sums",
]


def padded_gae(rewards: Tensor, values: Tensor, mask: Tensor, gamma: float, lam: float) -> tuple[Tensor, Tensor]:
    """Generalized advantage estimation by token, whitened over the mask; arguments as the numba kernel of the name.

    returns  f32[B, L]  (A - mean) / sqrt(var + 1e-8); 0 off the mask
             f32[B, L]  A + V; 0 off the mask

    Schulman et al. 2016, eq. 16; verl 0.9.1, core_algos.py:216. As there, A minus its last one is rounded to float32
    before it is divided.
    """
    at, row = _sampled(mask)
    read = values.reshape(-1)[at].double()
    nothing = torch.zeros(len(rewards), dtype=torch.float64, device=rewards.device)
    found = advantages(rewards.reshape(-1)[at].double(), read, row, nothing, gamma, lam)
    white = torch.zeros_like(found)
    if len(found) > 1:
        apart = found - found[-1]
        mean = apart.sum() / len(found)
        variance = ((apart - mean) ** 2).sum() / (len(found) - 1)
        white = (apart.float().double() - mean) / torch.sqrt(variance + 1e-8)
    return _rows(white, at, mask), _rows(found + read, at, mask)


def padded_broadcast(scalar: Tensor, mask: Tensor) -> Tensor:
    """f32[B, L]: one number a row, scalar f64[B], on its sampled tokens, mask i64[B, L]; 0 elsewhere."""
    return torch.where(mask != 0, scalar.float()[:, None], 0.0)


def padded_sums(rewards: Tensor) -> Tensor:
    """f64[B]: the sum of each row of f32[B, L], masked positions too, in the order torch adds in."""
    return rewards.double().sum(-1)


def padded_advantages(
    rewards: Tensor, values: Tensor, mask: Tensor, bootstrap: Tensor, gamma: float, lam: float, flavour: str
) -> tuple[Tensor, Tensor]:
    """Generalized advantage estimation by token, unwhitened, as one trainer has it.

    Arguments and both results, f32[B, L], as the numba kernel of the name; KeyError of an unknown flavour.
    """
    gap = GAE_GAPS[flavour]
    if flavour == "areal":
        mask = mask.clone()
        mask[:, -1:] = 0
    sampled = (mask != 0).reshape(-1)
    at, row = _sampled(mask if gap == SKIP else torch.ones_like(mask))
    seen = sampled[at] if gap != READ else torch.ones_like(at, dtype=torch.bool)
    reward = torch.where(seen, rewards.reshape(-1)[at].double(), 0.0)
    value = torch.where(seen, values.reshape(-1)[at].double(), 0.0)
    found = advantages(reward, value, row, bootstrap, gamma, lam)
    written = torch.where(seen, found, 0.0), torch.where(seen, found + value, 0.0)
    return _rows(written[0], at, mask), _rows(written[1], at, mask)


def padded_advantages_by_turn(
    rewards: Tensor, values: Tensor, mask: Tensor, turn: Tensor, bootstrap: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """Generalized advantage estimation with one step a turn, on every sampled token of the turn.

    Arguments and both results, f32[B, L], as the numba kernel of the name.
    """
    at, row = _sampled(mask)
    starts = changes(row, turn.reshape(-1)[at])
    step = starts.cumsum(0) - 1
    first = starts.nonzero().squeeze(-1)
    reward = totals(rewards.reshape(-1)[at].double(), torch.bincount(step, minlength=len(first)))
    value = values.reshape(-1)[at][first].double()
    found = advantages(reward, value, row[first], bootstrap, gamma, lam)
    return _rows(found[step], at, mask), _rows((found + value)[step], at, mask)


def padded_returns(rewards: Tensor, mask: Tensor, gamma: float, flavour: str) -> Tensor:
    """Discounted rewards from each token on, as the REINFORCE++ of one trainer has them.

    Arguments and result, f32[B, L], as the numba kernel of the name; KeyError of an unknown flavour.
    """
    gap = RETURN_GAPS[flavour]
    sampled = (mask != 0).reshape(-1)
    at, row = _sampled(mask if gap == SKIP else torch.ones_like(mask))
    seen, reward = sampled[at], rewards.reshape(-1)[at].double()
    starts = changes(row)
    if gap == RESET:
        starts |= ~seen  # what stands at a gap is read there, and hands nothing back to the tokens before it
        seen = torch.ones_like(seen)
    found = linear(column(gamma, reward), torch.where(seen, reward, 0.0), starts, backward=True)
    return _rows(torch.where(seen, found, 0.0), at, mask)


def _sampled(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Flat positions of the tokens on the mask, and the row of each."""
    at = (mask != 0).reshape(-1).nonzero().squeeze(-1)
    return at, at // max(mask.shape[1], 1)


def _rows(numbers: Tensor, at: Tensor, mask: Tensor) -> Tensor:
    """f32 rows in the shape of the mask, 0 where nothing is written."""
    return spread_out(numbers.float(), at, mask.numel(), 0.0).reshape(mask.shape)
