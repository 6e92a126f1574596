"""The ten ways a run looks broken: name, unit, remedy and detector of each, in the order they are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trajcredit.diagnostics.answer import Verdict
from trajcredit.diagnostics.blindness import state_blindness
from trajcredit.diagnostics.collapse import group_collapse
from trajcredit.diagnostics.entangled import entangled_credit
from trajcredit.diagnostics.hacking import reward_hacking
from trajcredit.diagnostics.kl import kl_mistuned
from trajcredit.diagnostics.length import length_bias
from trajcredit.diagnostics.memory import memory_mismatch
from trajcredit.diagnostics.overoptimised import overoptimised
from trajcredit.diagnostics.sparse import sparse_reward
from trajcredit.diagnostics.staleness import async_staleness
from trajcredit.diagnostics.table import Table

__all__ = ["MODES", "FailureMode"]


@dataclass(frozen=True, slots=True)
class FailureMode:
    """One entry of the catalog."""

    title: str
    unit: str
    """Of figure and threshold."""
    mitigation: str
    detect: Callable[[Table], Verdict]


MODES: dict[str, FailureMode] = {
    "state_blindness": FailureMode(
        "State blindness",
        "share of calls",
        "Look at what the policy was shown before a repeated call: put the fact back into its context, and fix how "
        "results are cut and formatted.",
        state_blindness,
    ),
    "reward_hacking": FailureMode(
        "Reward hacking",
        "difference of correlations",
        "Prefer rewards that can be checked; penalise the form that pays, keep a KL term, spot-check by hand.",
        reward_hacking,
    ),
    "sparse_reward": FailureMode(
        "Sparse terminal reward",
        "share of groups",
        "Warm-start on passing traces (`trajcredit select --to sft`), start from easier tasks, sample larger groups.",
        sparse_reward,
    ),
    "entangled_credit": FailureMode(
        "Entangled credit",
        "share of credit",
        "Use an attributor that follows dependencies (`dag:off_path=0.3`) or compares siblings "
        "(`trajcredit advise` says which suits).",
        entangled_credit,
    ),
    "kl_mistuned": FailureMode(
        "KL mis-tune",
        "nats a token",
        "Sweep the KL coefficient and check which reference is used; watch reward against KL, not against steps.",
        kl_mistuned,
    ),
    "length_bias": FailureMode(
        "Length bias",
        "rank correlation",
        "Normalise the loss by a constant, not by length; cap answers, balance lengths within groups, or take length "
        "out of the reward.",
        length_bias,
    ),
    "reward_model_overoptimisation": FailureMode(
        "Reward-model over-optimisation",
        "spreads of the held-out reward",
        "Stop at the checkpoint where the held-out reward peaked; refresh or ensemble the reward model, add verifiers.",
        overoptimised,
    ),
    "group_collapse": FailureMode(
        "Group-baseline collapse",
        "share of groups",
        "Mix difficulties, drop uniform groups (`trajcredit select --zero-variance drop`), sample larger groups.",
        group_collapse,
    ),
    "async_staleness": FailureMode(
        "Async staleness",
        "policy updates",
        "Limit the lag (`max_lag` of exporters and of `select`), use a clipped or decoupled ratio, log policy age.",
        async_staleness,
    ),
    "memory_mismatch": FailureMode(
        "Memory/state mismatch",
        "share of trajectories",
        "Make durable facts explicit fields of the context, and check that training and serving build it alike; make "
        "effects idempotent.",
        memory_mismatch,
    ),
}
