"""The arithmetic: pure functions of flat arrays, compiled by numba on first use and kept on disk.

Credit kernels are re-exported here; those that match text are imported from their own modules by `graph`.
"""

from trajcredit.kernels.dag import ancestors, best_path, last_actions, rewarded
from trajcredit.kernels.gae import count_missing, gae, gae_by_turn, turn_starts
from trajcredit.kernels.groups import centre, leave_one_out, members, scaled, sibling_spread, spread
from trajcredit.kernels.packing import pack_rescale
from trajcredit.kernels.padded import padded_broadcast, padded_gae, padded_sums
from trajcredit.kernels.padded_gaps import padded_advantages, padded_advantages_by_turn, padded_returns
from trajcredit.kernels.returns import broadcast, moving_average, reward_to_go
from trajcredit.kernels.smear import score_deltas, smeared, smeared_onto
from trajcredit.kernels.whitening import (
    WHITENING,
    Moments,
    Whitening,
    merged,
    moments,
    padded_whiten,
    whiten,
    whitened,
)

__all__ = [
    "WHITENING",
    "Moments",
    "Whitening",
    "ancestors",
    "best_path",
    "broadcast",
    "centre",
    "count_missing",
    "gae",
    "gae_by_turn",
    "last_actions",
    "leave_one_out",
    "members",
    "merged",
    "moments",
    "moving_average",
    "pack_rescale",
    "padded_advantages",
    "padded_advantages_by_turn",
    "padded_broadcast",
    "padded_gae",
    "padded_returns",
    "padded_sums",
    "padded_whiten",
    "reward_to_go",
    "rewarded",
    "scaled",
    "score_deltas",
    "sibling_spread",
    "smeared",
    "smeared_onto",
    "spread",
    "turn_starts",
    "whiten",
    "whitened",
]
