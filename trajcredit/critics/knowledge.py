"""What the agent knows at a point: where each word was first seen, and what a word must then be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from trajcredit.critics.text import is_number, leaves, tokens
from trajcredit.critics.words import Vocabulary

__all__ = ["Knowledge"]

READ = 20_000
"""Characters of a result whose words are remembered."""
START = 3
"""Letters that an abbreviation shares with the word it stands for."""
LARGEST_COUNT = 10_000
LARGEST_SUM = 2.0**53
"""Numbers from here on are no amounts: floats hold no longer every whole one."""
MOST_ASKED = 64
"""Numbers of a request that others are held against."""


class Knowledge:
    """Words with their provenance class, numbers, and the records of lists; of one trajectory, up to now.

    Classes (first match wins): P in the request (Pn a number), R:tool first seen in a result of a tool (or of a later
    user turn), R1 a number one away from a seen number, Pp starts like a word of the request, A seen only in the
    agent's own arguments, Sum the running total of a field, Dif a difference between a number of the request and a
    seen one, O another task's value, U seen nowhere.
    """

    def __init__(self, words: Vocabulary) -> None:
        self.words = words
        self.seen: dict[str, str] = {}
        self.numbers: set[int] = set()
        self.asked_numbers: set[int] = set()
        self.asked: set[str] = set()
        """Words of the request that tell its task from others."""
        self.announced: dict[str, int] = {}
        """Counts that results stated, by tool and path."""
        self.records: dict[str, tuple[list[dict[str, Any]], int]] = {}
        """Id -> the list it stands in, and its position."""
        self._starts: set[str] = set()
        self._sums: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._totals: set[int] | None = None

    def ask(self, text: str) -> None:
        """Take in a request."""
        for word in tokens(text):
            number = is_number(word)
            self._see(word, "Pn" if number else "P")
            if number:
                if len(self.asked_numbers) < MOST_ASKED:
                    self.asked_numbers.add(int(word))
            elif len(word) >= START:
                self._starts.add(word[:START])
            if word not in self.words.trade and (word in self.words.values or word not in self.words.prompts):
                self.asked.add(word)

    def hear(self, text: str) -> None:
        """Take in a later user turn."""
        self._see_all(tokens(text), "R:user")

    def learn(self, text: str, value: Any, tool: str, failed: bool) -> None:
        """Take in a result: its words, and of JSON that is no failure the numbers and lists of records."""
        self._see_all(tokens(text[:READ]), "R:" + tool)
        if value is None:
            return
        self._index(value)
        if failed:
            return
        for path, leaf in leaves(value):
            amount = isinstance(leaf, int | float) and not isinstance(leaf, bool) and abs(leaf) < LARGEST_SUM
            if amount and "[]" not in path:
                self._sums[tool, path] += leaf
                self._totals = None
                if 0 < leaf < LARGEST_COUNT and leaf == int(leaf):
                    self.announced[f"{tool}.{path}"] = int(leaf)

    def use(self, words: Iterable[str]) -> None:
        """Take in what the agent wrote itself."""
        for word in words:
            self.seen.setdefault(word, "A")

    def origin(self, word: str) -> str:
        """The provenance class of a word."""
        found = self.seen.get(word)
        if found is not None and found != "A":
            return found
        number = int(word) if is_number(word) else None
        if number is not None and (number - 1 in self.numbers or number + 1 in self.numbers):
            return "R1"
        if found is None and number is None and len(word) >= START and word[:START] in self._starts:
            return "Pp"
        if found is not None:
            return found
        if number is not None:
            if number in self._running_totals():
                return "Sum"
            if any(asked - number in self.numbers or asked + number in self.numbers for asked in self.asked_numbers):
                return "Dif"
        return "O" if word in self.words.values else "U"

    def _see(self, word: str, origin: str) -> None:
        if self.seen.get(word, "A") == "A":
            self.seen[word] = origin
        if is_number(word):
            self.numbers.add(int(word))

    def _see_all(self, words: Sequence[str], origin: str) -> None:
        seen = self.seen
        for word in set(words):
            if seen.get(word, "A") == "A":
                seen[word] = origin
            if word.isdecimal() and is_number(word):
                self.numbers.add(int(word))

    def _running_totals(self) -> set[int]:
        if self._totals is None:
            whole = (total for total in self._sums.values() if abs(total) < LARGEST_SUM and total == int(total))
            self._totals = {int(total) for total in whole}
        return self._totals

    def _index(self, value: Any, depth: int = 0) -> None:
        """Remember every record of every list of at least two, under what may name it."""
        if depth > 8:
            return
        if isinstance(value, dict):
            for inner in value.values():
                self._index(inner, depth + 1)
        elif isinstance(value, list):
            rows = [row for row in value if isinstance(row, dict)]
            if len(rows) >= 2:
                for k, row in enumerate(rows):
                    for leaf in row.values():
                        if isinstance(leaf, str) and len(leaf) >= 3:
                            self.records[leaf.lower()] = (rows, k)
                        elif isinstance(leaf, int) and not isinstance(leaf, bool) and leaf >= 1000:
                            self.records[str(leaf)] = (rows, k)
            for inner in value:
                if isinstance(inner, list):
                    self._index(inner, depth + 1)
