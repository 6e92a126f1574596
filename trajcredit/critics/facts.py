"""What a result says, as facts that recur from task to task; and what its lists offer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trajcredit.critics.knowledge import Knowledge
from trajcredit.critics.text import leaves, size, tokens

__all__ = ["facts_of", "like", "offers", "standing"]

READ = 4000
MOST = 60
"""Facts of one result."""
SHORT = 4
"""Words up to which a text is a value and beyond which it is prose."""
ALIKE = 6
"""Factor within which two numbers can be the same quantity."""


def facts_of(text: str, value: Any, known: Knowledge) -> list[str]:
    """Facts of a result, before it is taken in: fields with their booleans, signs, short texts by class, how many
    values a list holds; of other text the words that results of the pool share."""
    shown = known.words.shown
    if value is None:
        return sorted({f"~{word}" for word in set(tokens(text[:READ])) & shown})[:MOST]
    lengths: Counter[str] = Counter()
    found: set[str] = set()
    for path, leaf in leaves(value):
        if "[]" in path:
            lengths[path.split("[]")[0]] += 1
        elif isinstance(leaf, bool) or leaf is None:
            found.add(f"{path}={leaf}")
        elif isinstance(leaf, int | float):
            found.add(f"{path}:{'-' if leaf < 0 else '0' if leaf == 0 else '+'}")
        elif isinstance(leaf, str):
            words = tokens(leaf)
            if len(words) <= SHORT:
                found.add(f"{path}~" + " ".join(w if w in shown else known.origin(w) for w in words))
            else:
                found.update(f"{path}~{word}" for word in set(words) & shown)
    found.update(f"{path}#{size(n)}" for path, n in lengths.items())
    return sorted(found)[:MOST]


def like(number: float, asked: int) -> bool:
    """Whether two numbers can be the same quantity: within a factor of six, both of one sign and not zero."""
    return bool(number) and bool(asked) and 1 / ALIKE <= asked / number <= ALIKE


def offers(value: Any, known: Knowledge, path: str = "", depth: int = 0) -> Iterator[str]:
    """What the lists of a result offer: how many numbers of a field are within one of the request, whether a text of a
    field names what it names."""
    if depth > 8:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from offers(inner, known, f"{path}.{key}", depth + 1)
    elif isinstance(value, list):
        rows = [row for row in value if isinstance(row, dict)]
        for key in rows[0] if rows else ():
            column = [row.get(key) for row in rows]
            numbers = [x for x in column if isinstance(x, int | float) and not isinstance(x, bool)]
            if numbers:
                yield from _within(numbers, known, f"{path}[].{key}")
            else:
                hits = sum(isinstance(x, str) and not known.asked.isdisjoint(tokens(x)) for x in column)
                if hits:
                    yield f"{path}[].{key} names {min(hits, 2)}"


def _within(numbers: list[float], known: Knowledge, path: str) -> Iterator[str]:
    for asked in known.asked_numbers:
        alike = [x for x in numbers if like(x, asked)]
        if alike:
            inside = sum(x <= asked for x in alike)
            yield f"{path} within {min(inside, 2)}{' all' if inside == len(alike) else ''}"


def standing(word: str, known: Knowledge) -> Iterator[str]:
    """How the record that an argument names stands in its list: smallest or largest of a field, within the request's
    numbers, its texts in the request, its place."""
    rows, k = known.records[word]
    yield f"place {'first' if k == 0 else 'last' if k == len(rows) - 1 else 'between'}"
    for key, value in rows[k].items():
        if isinstance(value, bool):
            yield f"{key}={value}"
        elif isinstance(value, int | float):
            column = [row[key] for row in rows if isinstance(row.get(key), int | float)]
            low, high = min(column), max(column)
            yield f"{key} {'same' if low == high else 'low' if value == low else 'high' if value == high else 'mid'}"
            alike = [asked for asked in known.asked_numbers if like(value, asked)]
            for within in {value <= asked for asked in alike}:
                yield f"{key} {'within' if within else 'beyond'}"
            fit = [x for x in column if any(like(x, asked) and x <= asked for asked in known.asked_numbers)]
            if fit:
                yield f"{key} {'least' if value == min(fit) else 'most' if value == max(fit) else 'some'} that fits"
        elif isinstance(value, str):
            yield f"{key} {'asked' if not known.asked.isdisjoint(tokens(value)) else 'not asked'}"
