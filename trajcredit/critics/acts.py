"""What there is to say of one choice: a call or a message, by where its values come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log10
from typing import Any

from trajcredit.critics.facts import standing
from trajcredit.critics.knowledge import Knowledge
from trajcredit.critics.story import Choice
from trajcredit.critics.text import size, tokens

__all__ = ["Point", "describe_call", "describe_message"]

MOST_WORDS = 200
"""Words of an argument that are looked at."""
TEMPLATE = 12
"""Words of an argument that the template of a call shows."""
SATURATION = 4
"""Counts are told up to here, as a share of it."""

Feature = tuple[str, float, bool]
"""Name, value, and whether having done it stays a fact of the state."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a choice is made: what is known, what calls about a word found, the last call, the share of the request's
    words used so far, whether nothing follows, the calls made so far."""

    known: Knowledge
    told: dict[str, tuple[str, list[str]]]
    last: str
    share: float
    final: bool
    made: set[object]


def describe_call(choice: Choice, tool: str, point: Point) -> list[Feature]:
    """The features of a call; `tool` as the vocabulary names it. Each name starts with its kind."""
    found: list[Feature] = [(f"tool|{tool}", 1.0, True), (f"after|{tool}|{point.last}", 1.0, False)]
    if choice.position:
        found.append((f"position|{tool}|{min(choice.position, 3)}", 1.0, False))
    if (choice.tool, choice.arguments_key) in point.made:
        found.append((f"repeat|{tool}", 1.0, False))
    total: Counter[str] = Counter()
    template = []
    about: set[str] = set()
    for key, value in choice.arguments:
        marks, classes = _argument(tool, key, value, point, found, about)
        total.update(classes)
        template.append(f"{key}={' '.join(marks[:TEMPLATE])}")
    found += [(f"origin|{tool}|*|{origin}", 1.0, True) for origin in total]
    found.append((f"template|{tool}|{'&'.join(template)}", 1.0, True))
    found += [(f"uses|{tool}|{source}", 1.0, True) for source in choice.sources]
    found.append((f"uses-count|{tool}", min(len(choice.sources), SATURATION) / SATURATION, False))
    found += [(name, 1.0, True) for name in _entities(tool, about, point)]
    return found


def _argument(
    tool: str, key: str, value: Any, point: Point, found: list[Feature], about: set[str]
) -> tuple[list[str], Counter[str]]:
    """Words of one argument as marks for the template, and how many there are of each class."""
    known, words = point.known, point.known.words
    plain = value is None or isinstance(value, bool)
    marks: list[str] = []
    classes: Counter[str] = Counter()
    text = tokens(str(value))[:MOST_WORDS]
    for word in text:
        if word in words.trade:
            seen = known.seen.get(word, "")
            mark = "Q" if seen[:1] == "P" else "K" if seen[:1] == "R" else "C"
            found.append((f"word|{tool}|{key}|{word}", 1.0, True))
            found.append((f"word-from|{tool}|{key}|{word}|{mark}", 1.0, False))
            marks.append(word)
            if (tool, key, word) not in words.usual:
                classes[mark] += 1
        elif plain:
            marks.append(word)
        else:
            origin = known.origin(word)
            marks.append(origin)
            classes[origin] += 1
            if origin.startswith("R:"):
                classes["R"] += 1
        if word in point.told:
            about.add(word)
    for origin, n in classes.items():
        found.append((f"origin|{tool}|{key}|{origin}", 1.0, True))
        found.append((f"origin-count|{tool}|{origin}", min(n, SATURATION) / SATURATION, False))
    if classes["U"]:
        found.append((f"unseen|{tool}", classes["U"] / len(text), False))
    if isinstance(value, int | float) and not plain:
        found.append((f"magnitude|{tool}|{key}|{_magnitude(value)}", 1.0, False))
    whole = str(value).lower()
    if not plain and whole in known.records:
        found += [(f"record|{tool}|{key}|{how}", 1.0, True) for how in standing(whole, known)]
    return marks, classes


def _entities(tool: str, about: set[str], point: Point) -> Iterator[str]:
    """What earlier calls about the same things found, each once."""
    if not about:
        yield f"unlooked|{tool}"
    names = set()
    for word in about:
        call, facts = point.told[word]
        names.add(f"about|{tool}|{call}")
        names.update(f"finding|{tool}|{call}|{fact}" for fact in facts)
    yield from sorted(names)


def _magnitude(value: float) -> int:
    """Decimal digits before the point, at most 7; -1 for fractions, 8 for what is no finite number."""
    amount = abs(value)
    if not amount < inf:  # also NaN
        return 8
    return 0 if amount == 0 else -1 if amount < 1 else min(7, int(log10(amount)) + 1)


def describe_message(choice: Choice, point: Point) -> list[Feature]:
    """The features of a plain message."""
    known = point.known
    where = "end" if point.final else "mid"
    text = tokens(choice.text)
    found: list[Feature] = [
        (f"message|{where}", 1.0, True),
        (f"message-after|{where}|{point.last}", 1.0, False),
        (f"length|{where}|{size(len(text))}", 1.0, False),
        (f"sources|{where}", min(choice.n_sources, 6) / 6, False),
        (f"used|{where}", point.share, False),
    ]
    said = known.words.said
    found += [(f"said|{where}|{word}", 1.0, True) for word in sorted(set(text) & said)]
    for origin, n in Counter(known.origin(word) for word in text if word not in said).items():
        found.append((f"message-origin|{where}|{origin}", 1.0, True))
        found.append((f"message-count|{where}|{origin}", min(n, 6) / 6, False))
    if "?" in choice.text:
        found.append((f"question|{where}", 1.0, True))
    return found
