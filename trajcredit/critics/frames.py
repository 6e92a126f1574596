"""How a fitted critic describes decisions: what it needs to read trajectories that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajcredit.arrays import I64, U64
from trajcredit.critics.describe import Description, describe, described_as
from trajcredit.critics.story import Story
from trajcredit.critics.words import Vocabulary, vocabulary

__all__ = ["Frame", "described"]

MOST_COLUMNS = 1500
"""Columns of choices, and of states: of more, those that most groups share."""
MOST_CELLS = 60_000_000
"""Numbers of one description held at once: long pools get fewer columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The words of a pool, the columns of its choices and states, the marks u64[K] of its situations, the arguments
    (tool, path) that its calls gave values to."""

    words: Vocabulary
    names: tuple[str, ...]
    states: tuple[str, ...]
    situations: U64
    arguments: tuple[tuple[str, str], ...] = ()

    def describe(self, stories: Sequence[Story]) -> Description:
        """Stories described by these columns; of the fitted pool itself, the description it was fitted on."""
        return described_as(stories, self.words, self.names, self.states)


def described(stories: Sequence[Story], groups: I64) -> tuple[Frame, Description]:
    """The frame of a pool, and its stories described by it; groups i64[T] the task of each."""
    words = vocabulary(stories, groups.tolist())
    n = sum(len(story.choices) for story in stories)
    told = describe(stories, groups, words, min(MOST_COLUMNS, max(64, MOST_CELLS // max(n, 1))))
    return Frame(words, tuple(told.names), tuple(told.state_names), told.situations, told.uses.arguments), told
