"""Which members of a group are read in full, so that a group of any size answers soon, and what they were asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajcredit.model import Trajectory
from trajcredit.service.grouping_calls import Rollout, rollout_of

__all__ = ["Read", "chosen_members", "read_members", "spread_out"]

MOST_MEMBERS = 200
MOST_BYTES = 4 << 20
"""Of compressed documents: some 40 MB of text, a second or two."""
GOLDEN = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio."""
PROMPT = 400
"""Characters of a prompt that are shown."""


@dataclass(frozen=True, slots=True)
class Read:
    """Members with their calls, in the order they were stored, and what they were asked."""

    rollouts: tuple[Rollout, ...]
    prompt: str
    """The first user message of the first of them, cut; "" where there is none."""
    prompts_differ: bool


def chosen_members(sizes: Sequence[int]) -> list[int]:
    """Positions of all members, or of as many as MOST_MEMBERS and MOST_BYTES allow; sizes: of their documents."""
    return spread_out(sizes, MOST_MEMBERS, MOST_BYTES)


def read_members(
    chosen: Sequence[int], documents: Iterable[tuple[str, Trajectory]], rewards: Sequence[float | None]
) -> Read:
    """Members by their positions in the group, each with our id; rewards: of the whole group."""
    rollouts, prompts = [], []
    for at, (identity, trajectory) in zip(chosen, documents, strict=True):
        rollouts.append(rollout_of(trajectory, identity, at + 1, rewards[at]))
        prompts.append(_prompt(trajectory))
    first = prompts[0] if prompts else ""
    cut = first if len(first) <= PROMPT else first[:PROMPT] + " …"
    return Read(tuple(rollouts), cut, any(prompt != first for prompt in prompts))


def spread_out(sizes: Sequence[int], most: int, most_bytes: int) -> list[int]:
    """Positions of at least two and at most `most` members of so many bytes together, spread evenly, in order.

    They are visited in the order of their multiples of the golden ratio, modulo 1 (Knuth 1973, section 6.4): however
    soon that ends they are spread, and a log that repeats every so many members does not show one kind alone.
    """
    order = sorted(range(len(sizes)), key=lambda at: at * GOLDEN % (1 << 64))
    chosen: list[int] = []
    total = 0
    for at in order[:most]:
        total += sizes[at]
        if total > most_bytes and len(chosen) >= 2:
            break
        chosen.append(at)
    return sorted(chosen)


def _prompt(trajectory: Trajectory) -> str:
    return next((span.text for span in trajectory.spans if span.kind == "user"), "")
