"""What each trainer does at tokens the policy did not sample, between those it did: returns and GAE of padded rows.

Rows, dtypes and arithmetic as in `padded`; nothing here is whitened, `padded_whiten` does that.
"""

from __future__ import annotations

import numpy as np

from trajcredit.arrays import F64, I64
from trajcredit.kernels.jit import jit
from trajcredit.kernels.padded import F32
from trajcredit.kernels.pieces import by_rows

__all__ = ["GAE_GAPS", "RETURN_GAPS", "padded_advantages", "padded_advantages_by_turn", "padded_returns"]

SKIP, STEP, READ, RESET = 0, 1, 2, 3

GAE_GAPS = {
    # stepped over at no discount, their values and rewards unread
    "verl": SKIP,  # 0.9.1 core_algos.py:216
    "nemo": SKIP,  # 7ea279abf _compute_gae
    "areal": SKIP,  # 1.0.4 token GAE; its last column is never an action
    # a step of reward 0 and value 0
    "openrlhf": STEP,  # 0.11.2 experience_maker.py:343
    # no masking in the recursion: a step like any other
    "skyrl": READ,  # 0.3.0 ppo_utils.py:1256
    "slime": READ,  # 624b824a8 vanilla_gae, chunked_gae
}
"""Trainer -> its rule for GAE."""

RETURN_GAPS = {
    "verl": SKIP,  # 0.9.1 core_algos.py:694
    "openrlhf": STEP,  # 0.11.2 experience_maker.py:390
    # 0.3.0 ppo_utils.py:1168, and verl before 0.9 (verl-project/verl#6376); SkyRL's own mask has observations in
    "skyrl": RESET,
}
"""Trainer -> its rule for the returns of REINFORCE++."""


def padded_advantages(
    rewards: F32, values: F32, mask: I64, bootstrap: F64, gamma: float, lam: float, flavour: str
) -> tuple[F32, F32]:
    """Generalized advantage estimation by token, unwhitened, as one trainer has it.

    rewards    f32[B, L]  reward after each token
    values     f32[B, L]  V before each token
    mask       i64[B, L]  1 on tokens the policy sampled
    bootstrap  f64[B]     V after the last token; 0 where the episode terminated. AReaL takes its last column, in rows
                          without padding
    flavour    a key of GAE_GAPS; KeyError else
    returns    f32[B, L]  A_j = delta_j + gamma lam A_{j+1}, delta_j = r_j + gamma V_{j+1} - V_j
               f32[B, L]  A + V
               both 0 off the mask; skyrl and slime leave there what their recursion comes by

    Schulman et al. 2016 (arXiv 1506.02438), eq. 16.
    """
    if flavour == "areal":
        mask = mask.copy()
        mask[:, -1:] = 0
    advantages, returns = np.empty(rewards.shape, np.float32), np.empty(rewards.shape, np.float32)
    gap = GAE_GAPS[flavour]

    def fill(rows: slice) -> None:
        given = (rewards[rows], values[rows], mask[rows], bootstrap[rows])
        _gae_rows(*given, gamma, lam, gap, advantages[rows], returns[rows])

    by_rows(rewards.shape, fill)
    return advantages, returns


def padded_advantages_by_turn(
    rewards: F32, values: F32, mask: I64, turn: I64, bootstrap: F64, gamma: float, lam: float
) -> tuple[F32, F32]:
    """Generalized advantage estimation with one step a turn, on every sampled token of the turn.

    rewards, values, mask, bootstrap  as in `padded_advantages`; the rewards on sampled tokens of a turn are added, V is
                                      read at its first sampled token
    turn     i64[B, L]  the turn of each sampled token; read on the mask alone
    returns  f32[B, L]  A of the turn; 0 off the mask
             f32[B, L]  A + V of the turn; 0 off the mask

    AReaL cbff54d64, `trainer/ppo/gae.py` with gae_timestep_unit="turn".
    """
    advantages, returns = np.empty(rewards.shape, np.float32), np.empty(rewards.shape, np.float32)

    def fill(rows: slice) -> None:
        given = (rewards[rows], values[rows], mask[rows], turn[rows], bootstrap[rows])
        _turn_rows(*given, gamma, lam, advantages[rows], returns[rows])

    by_rows(rewards.shape, fill)
    return advantages, returns


def padded_returns(rewards: F32, mask: I64, gamma: float, flavour: str) -> F32:
    """Discounted rewards from each token on, as the REINFORCE++ of one trainer has them.

    rewards  f32[B, L]  reward after each token; what stands off the mask moves no return on it
    mask     i64[B, L]  1 on tokens the policy sampled
    flavour  a key of RETURN_GAPS: verl carries the return over a gap, openrlhf discounts it at every token of the gap,
             skyrl drops it: what was sampled before a tool result gets no later reward. KeyError else
    returns  f32[B, L]  0 off the mask; skyrl leaves there the token's reward and what follows up to the next gap

    Hu et al. 2025 (arXiv 2501.03262).
    """
    returns = np.empty(rewards.shape, np.float32)
    gap = RETURN_GAPS[flavour]
    by_rows(rewards.shape, lambda rows: _return_rows(rewards[rows], mask[rows], gamma, gap, returns[rows]))
    return returns


@jit
def _gae_rows(
    rewards: F32,
    values: F32,
    mask: I64,
    bootstrap: F64,
    gamma: float,
    lam: float,
    gap: int,
    advantages: F32,
    returns: F32,
) -> None:
    """Fill both results."""
    for b in range(rewards.shape[0]):
        next_value = bootstrap[b]
        running = 0.0
        for j in range(rewards.shape[1] - 1, -1, -1):
            sampled = mask[b, j] != 0
            if not sampled and gap != READ:
                advantages[b, j] = 0.0
                returns[b, j] = 0.0
                if gap == STEP:
                    running = gamma * next_value + gamma * lam * running
                    next_value = 0.0
                continue
            value = np.float64(values[b, j])
            running = rewards[b, j] + gamma * next_value - value + gamma * lam * running
            next_value = value
            advantages[b, j] = running
            returns[b, j] = running + value


@jit
def _turn_rows(
    rewards: F32,
    values: F32,
    mask: I64,
    turn: I64,
    bootstrap: F64,
    gamma: float,
    lam: float,
    advantages: F32,
    returns: F32,
) -> None:
    """Fill both results."""
    for b in range(rewards.shape[0]):
        next_value = bootstrap[b]
        running = 0.0
        end = rewards.shape[1]
        while end > 0:
            while end > 0 and mask[b, end - 1] == 0:
                end -= 1
                advantages[b, end] = 0.0
                returns[b, end] = 0.0
            if end == 0:
                break
            reward = 0.0
            first = end - 1
            start = end
            while start > 0 and (mask[b, start - 1] == 0 or turn[b, start - 1] == turn[b, end - 1]):
                start -= 1
                if mask[b, start] != 0:
                    first = start
                    reward += rewards[b, start]
            value = np.float64(values[b, first])
            running = reward + gamma * next_value - value + gamma * lam * running
            next_value = value
            for j in range(start, end):
                advantages[b, j] = running if mask[b, j] != 0 else 0.0
                returns[b, j] = running + value if mask[b, j] != 0 else 0.0
            end = start


@jit
def _return_rows(rewards: F32, mask: I64, gamma: float, gap: int, returns: F32) -> None:
    """Fill the result."""
    for b in range(rewards.shape[0]):
        running = 0.0
        for j in range(rewards.shape[1] - 1, -1, -1):
            sampled = mask[b, j] != 0
            if sampled or gap == RESET:
                running = rewards[b, j] + gamma * running
                returns[b, j] = running
                if not sampled:
                    running = 0.0
            else:
                returns[b, j] = 0.0
                if gap == STEP:
                    running = gamma * running
