"""Torch twins of the kernels: the same names, arguments and results, as tensors on any device, all on the same one.

float64 columns and int64 offsets as there. They pay where the tensors already live on the device; span-level work on
the CPU is left to the numba kernels. Where a twin adds in another order, its docstring says so; else only scans do
(`segments`). Nothing imports this package, and with it torch, but whoever asks for it by name.
"""

from trajcredit.kernels.gpu.dag import ancestor_sets, ancestors, best_path, first_end, last_actions, rewarded
from trajcredit.kernels.gpu.gae import count_missing, gae, gae_by_turn, turn_starts
from trajcredit.kernels.gpu.groups import centre, leave_one_out, members, scaled, sibling_spread, spread
from trajcredit.kernels.gpu.packing import pack_rescale
from trajcredit.kernels.gpu.padded import (
    padded_advantages,
    padded_advantages_by_turn,
    padded_broadcast,
    padded_gae,
    padded_returns,
    padded_sums,
)
from trajcredit.kernels.gpu.returns import broadcast, moving_average, reward_to_go
from trajcredit.kernels.gpu.smear import score_deltas, smeared, smeared_onto
from trajcredit.kernels.gpu.visits import backed_up, first_visits, state_values, visitors
from trajcredit.kernels.gpu.whitening import merged, moments, padded_whiten, whiten, whitened

__all__ = [
    "WITHOUT",
    "ancestor_sets",
    "ancestors",
    "backed_up",
    "best_path",
    "broadcast",
    "centre",
    "count_missing",
    "first_end",
    "first_visits",
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
    "state_values",
    "turn_starts",
    "visitors",
    "whiten",
    "whitened",
]

_TEXT = "reads bytes one after the other and branches on each; its text is on the host and its output is a graph"
_WALK = "walks the spans of a transcript in order over hash tables of its values; its output is a graph, built once"
WITHOUT = {
    "carriers": _WALK,
    "derived": _WALK,
    "forms": _WALK,
    "match": _WALK,
    "resources": _TEXT,
    "scan": _TEXT,
    "surroundings": _WALK,
    "walk": _WALK,
    "words": _TEXT,
    "written": _WALK,
    "coalitions": "every trajectory plays a game of its own size, 2^players coalitions or a budget of orders: no flat "
    "column that a device could share out evenly",
    "isotonic": "fitting: pooling adjacent violators is sequential, and done once a fold",
}
"""Modules with numba kernels that have no twin -> the reason."""
