"""Stories -> a description: every decision as features of the choice, of the state before it, and its situation.

What is described is where values come from, not what they are (docs/credit.md): so the same columns serve every task
of a pool. An action never sees its own result; calls of one turn do not see each other's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from math import log1p

import numpy as np

from trajcredit.arrays import F64, I64, U64
from trajcredit.critics.acts import Point, describe_call, describe_message
from trajcredit.critics.columns import F32, Columns, Intervals, Table, numbered
from trajcredit.critics.facts import facts_of, offers
from trajcredit.critics.knowledge import Knowledge
from trajcredit.critics.siblings import Uses, uses_of
from trajcredit.critics.story import Choice, Event, Story
from trajcredit.critics.text import parsed, size, tokens
from trajcredit.critics.words import Vocabulary

__all__ = ["Description", "describe", "described_as"]

MOST_COUNTS = 20
"""Announced counts that a situation is told by."""
MOST_ENTITY_FACTS = 20
START = "^"
PROGRESS = ("progress|used", "progress|choices")
"""The last two columns of the state: the share of the request's words used so far, log(1 + choices made)."""


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """D decisions of the stories of one pool, in order.

    choice      f32[D, C]  features of the choice; names, one a column: `kind|...`
    state       f32[D, S]  features of what was known before it; state_names, one a column
    situation   i64[D]     equal where the last call, its facts and the counts announced so far are equal
    situations  u64[K]     a mark of each situation, the same in every description
    last_call   i64[D]     equal where the last call (and whether it failed) is
    owner       i64[D]     story of each decision
    noted, new  f64[D]     features noted of the decision, and those of them that no column stands for (`Table`)
    uses                   the values it gave to arguments
    """

    choice: F32
    names: list[str]
    state: F32
    state_names: list[str]
    situation: I64
    situations: U64
    last_call: I64
    owner: I64
    noted: F64
    new: F64
    uses: Uses


def describe(stories: Sequence[Story], groups: I64, words: Vocabulary, most: int) -> Description:
    """The description of a pool's stories; groups i64[T] their tasks; at most `most` columns of each kind."""
    writer, owner = _written(stories, words)
    group = groups[owner]
    chosen, known = writer.choice.dense(group, len(owner), most), writer.state.dense(group, len(owner), most)
    return _described(writer, owner, chosen, known, uses_of(stories))


def described_as(
    stories: Sequence[Story], words: Vocabulary, names: Sequence[str], states: Sequence[str]
) -> Description:
    """The description of stories by the columns of another one: its `names` and `state_names`."""
    writer, owner = _written(stories, words)
    chosen = writer.choice.placed(names, len(owner))
    known = writer.state.placed(states[: -len(PROGRESS)], len(owner))
    return _described(writer, owner, chosen, known, uses_of(stories))


def _written(stories: Sequence[Story], words: Vocabulary) -> tuple[_Writer, I64]:
    writer = _Writer(words)
    for story in stories:
        writer.write(story)
    counts = [len(story.choices) for story in stories]
    return writer, np.repeat(np.arange(len(stories)), np.array(counts, dtype=np.int64))


def _described(writer: _Writer, owner: I64, choice: Table, state: Table, uses: Uses) -> Description:
    progress = np.array(writer.progress, dtype=np.float32).reshape(-1, len(PROGRESS))
    known = dict.fromkeys(writer.situation)
    return Description(
        choice=choice.matrix,
        names=choice.names,
        state=np.hstack([state.matrix, progress]),
        state_names=[*state.names, *PROGRESS],
        situation=numbered(writer.situation),
        situations=np.array([_mark(situation) for situation in known], dtype=np.uint64),
        last_call=numbered(writer.last_call),
        owner=owner,
        noted=choice.noted + state.noted,
        new=choice.new + state.new,
        uses=uses,
    )


def _mark(situation: tuple[str, ...]) -> int:
    """A number of a situation that is the same on every machine."""
    texts = (f"{len(part)}:{part}" for part in situation)
    digest = blake2b("".join(texts).encode(errors="surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


class _Writer:
    """Walks stories and writes down what there is to say of every decision."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words
        self.choice, self.state = Columns(), Intervals()
        self.progress: list[tuple[float, float]] = []
        self.situation: list[tuple[str, ...]] = []
        self.last_call: list[str] = []

    @property
    def at(self) -> int:
        """The next decision."""
        return len(self.progress)

    def write(self, story: Story) -> None:
        """All decisions of one story."""
        walk = _Walk(self, story)
        for text in story.requests:
            walk.known.ask(text)
        for event in story.events:
            if event.choices:
                walk.choose(event)
            elif not event.request:
                walk.read(event)
        self.state.close(self.at)


class _Walk:
    """One story on its way: what is known, what was done, what came last."""

    def __init__(self, writer: _Writer, story: Story) -> None:
        self.writer, self.story = writer, story
        self.known = Knowledge(writer.words)
        self.first = writer.at
        self.calls: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.last, self.before = START, START
        self.last_facts: list[str] = []
        self.latest: dict[str, list[str]] = {}
        """Tool -> state columns of its latest result."""
        self.told: dict[str, tuple[str, list[str]]] = {}
        """Word -> the last call that named it, and what that found."""
        self.used: set[str] = set()
        self.made: set[object] = set()
        self.chosen: set[str] = set()
        """Features of choices so far that stay facts of the state."""
        self.ever: set[tuple[str, str]] = set()
        """Tools and what their results told so far."""

    def read(self, event: Event) -> None:
        """A result, or a later user turn."""
        state, at, known = self.writer.state, self.writer.at, self.known
        if event.choice < 0:
            known.hear(event.text)
            for name in self.latest.pop("", []):
                state.end(name, at)
            shared = self.writer.words.said | self.writer.words.shown | self.writer.words.trade
            self.latest[""] = [f"user|{word}" for word in sorted(set(tokens(event.text)) & shared)]
            for name in self.latest[""]:
                state.begin(name, at)
            self.last_facts.append("user")
            return
        choice = self.story.choices[event.choice]
        tool = self.writer.words.name(choice)
        value = parsed(event.text)
        facts = facts_of(event.text, value, known)
        known.learn(event.text, value, tool, event.failed)
        facts += sorted(set(offers(value, known)))
        for name in self.latest.get(tool, ()):
            state.end(name, at)
        self.latest[tool] = [f"latest|{tool}|{fact}" for fact in facts] + [f"latest|{tool}|!"] * event.failed
        for name in self.latest[tool]:
            state.begin(name, at)
        for fact in facts:
            if (tool, fact) not in self.ever:
                self.ever.add((tool, fact))
                state.begin(f"ever|{tool}|{fact}", at)
                state.begin(f"ever||{fact}", at)
        if event.failed:
            self.failures[tool] += 1
            state.begin(f"failures|{tool}|{size(self.failures[tool])}", at)
        else:
            self.done[tool] += 1
        self.last_facts += facts
        self.last = tool + "!" * event.failed
        for _, argument in choice.arguments:
            for word in tokens(str(argument)):
                if word not in self.writer.words.trade:
                    self.told[word] = (self.last, facts[:MOST_ENTITY_FACTS])

    def choose(self, event: Event) -> None:
        """The choices of one turn, then what they change."""
        writer, state = self.writer, self.writer.state
        now = [f"last|{self.last}", f"before|{self.before}", *(f"count|{fact}" for fact in self._counts())]
        start = writer.at
        situation = (self.last, str(len(self.last_facts)), *self.last_facts, *now[2:])
        share = len(self.used & self.known.asked) / max(1, len(self.known.asked))
        kept: list[str] = []
        choices = [self.story.choices[c] for c in event.choices]
        for c, choice in zip(event.choices, choices, strict=True):
            point = Point(self.known, self.told, self.last, share, c == len(self.story.choices) - 1, self.made)
            told = describe_message(choice, point) if choice.is_message else self._call(choice, point)
            row = writer.at
            features: dict[str, float] = {}
            for name, value, lasting in told:
                if features.get(name, 0.0) <= value:
                    features[name] = value
                if lasting and name not in self.chosen:
                    self.chosen.add(name)
                    kept.append(name)
            writer.choice.add(row, features)
            writer.situation.append(situation)
            writer.last_call.append(self.last)
            writer.progress.append((share, log1p(row - self.first)))
        after = writer.at
        state.during(now, start, after)
        for name in kept:
            state.begin(f"chose|{name}", after)
        for choice in choices:
            self._after(choice)
        self.last_facts = []

    def _call(self, choice: Choice, point: Point) -> list[tuple[str, float, bool]]:
        found = describe_call(choice, self.writer.words.name(choice), point)
        self.made.add((choice.tool, choice.arguments_key))
        return found

    def _after(self, choice: Choice) -> None:
        state, at, tool = self.writer.state, self.writer.at, self.writer.words.name(choice)
        self.calls[tool] += 1
        self.before, self.last = self.last, tool
        state.begin(f"calls|{tool}|{size(self.calls[tool])}", at)
        for source in choice.sources:
            state.begin(f"consumed|{source}", at)
        for _, argument in choice.arguments:
            words = tokens(str(argument))
            self.known.use(words)
            self.used.update(words)

    def _counts(self) -> list[str]:
        """How often the last tool has succeeded, against every count that a result announced."""
        done = self.done[self.last.rstrip("!")]
        counts = islice(self.known.announced.items(), MOST_COUNTS)
        return [f"{name}{'=' if done == n else '<' if done < n else '>'}" for name, n in counts]
