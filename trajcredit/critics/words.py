"""Words of a pool of tasks: which are the trade's own, which are values, and how a call is named."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from trajcredit.critics.story import Choice, Story
from trajcredit.critics.text import is_number, tokens

__all__ = ["Vocabulary", "vocabulary"]

READ = 4000
"""Characters of a result whose words can be trade words."""
TRADE, VALUE, NUMBER, USUAL = 0.15, 0.6, 0.5, 0.8
"""Shares: groups that use a trade word; most prompts with a value; groups with a number; calls with a fixed word."""
LEAST = 3
"""Groups that must share something before anything can be learnt from it."""
VERBS = 20
"""First words that a command line may start with."""


class Vocabulary(msgspec.Struct, frozen=True):
    """What the words of a pool mean; learnt from texts alone, never from rewards."""

    prompts: frozenset[str]
    """Words of at least two tasks' requests."""
    values: frozenset[str]
    """Words that some requests of the pool name and most do not: options of each other."""
    trade: frozenset[str]
    """Words that calls use whatever the task."""
    said: frozenset[str]
    """Words that messages use whatever the task."""
    shown: frozenset[str]
    """Words that results show whatever the task."""
    commands: frozenset[str]
    """Tools whose first argument is a command line."""
    usual: frozenset[tuple[str, str, str]]
    """(tool, argument, trade word) of nearly every call of the tool."""

    def name(self, choice: Choice) -> str:
        """The tool, of command lines with their first two words."""
        if choice.tool in self.commands and choice.arguments and isinstance(choice.arguments[0][1], str):
            return " ".join((choice.tool, *choice.arguments[0][1].split()[:2]))
        return choice.tool


def vocabulary(stories: Sequence[Story], groups: Sequence[int]) -> Vocabulary:
    """The words of a pool's stories; `groups` numbers the task of each."""
    asked, used, said, shown = (defaultdict[str, set[int]](set) for _ in range(4))
    for story, group in zip(stories, groups, strict=True):
        _count(story, group, asked, used, said, shown)
    n = len(set(groups))
    least = max(LEAST, TRADE * n)
    values = frozenset(w for w, by in asked.items() if 2 <= len(by) < VALUE * n)
    least_number = max(LEAST, NUMBER * n)
    common = frozenset(
        w for w, by in used.items() if w not in values and len(by) >= (least_number if is_number(w) else least)
    )

    def general(found: dict[str, set[int]]) -> frozenset[str]:
        return frozenset(w for w, by in found.items() if len(by) >= least and w not in values and not is_number(w))

    prompts = frozenset(w for w, by in asked.items() if len(by) >= 2)
    commands = frozenset(_commands(stories, values))
    draft = Vocabulary(prompts, values, common, general(said), general(shown), commands, frozenset())
    return msgspec.structs.replace(draft, usual=_usual(stories, draft))


def _count(
    story: Story,
    group: int,
    asked: dict[str, set[int]],
    used: dict[str, set[int]],
    said: dict[str, set[int]],
    shown: dict[str, set[int]],
) -> None:
    for text in story.requests:
        for word in tokens(text):
            asked[word].add(group)
    for choice in story.choices:
        if choice.is_message:
            for word in tokens(choice.text):
                said[word].add(group)
        for _, value in choice.arguments:
            for word in tokens(str(value)):
                used[word].add(group)
    for text in story.results:
        for word in tokens(text[:READ]):
            shown[word].add(group)


def _commands(stories: Sequence[Story], values: frozenset[str]) -> Iterator[str]:
    """Tools whose first argument starts with one of few verbs and goes on in many ways."""
    verbs, starts, lines = (defaultdict[str, Counter[Any]](Counter) for _ in range(3))
    for story in stories:
        for choice in story.choices:
            if choice.arguments and isinstance(choice.arguments[0][1], str):
                line = choice.arguments[0][1]
                first = line.split()[:2]
                if first:
                    verbs[choice.tool][first[0]] += 1
                    starts[choice.tool][tuple(first)] += 1
                    lines[choice.tool][line] += 1
    for tool, counts in verbs.items():
        known = [verb for verb, n in counts.items() if n >= LEAST]
        covered = sum(counts[verb] for verb in known) >= 0.95 * counts.total()
        many = len(lines[tool]) >= 3 * len(starts[tool])
        if 1 < len(known) <= VERBS and covered and many and not values & {verb.lower() for verb in known}:
            yield tool


def _usual(stories: Sequence[Story], words: Vocabulary) -> frozenset[tuple[str, str, str]]:
    calls: Counter[tuple[str, str]] = Counter()
    seen: Counter[tuple[str, str, str]] = Counter()
    for story in stories:
        for choice in story.choices:
            tool = words.name(choice)
            for key, value in choice.arguments:
                calls[tool, key] += 1
                seen.update((tool, key, word) for word in set(tokens(str(value))) & words.trade)
    return frozenset(found for found, n in seen.items() if n >= USUAL * calls[found[:2]])
