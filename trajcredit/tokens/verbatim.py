"""Whether a chat template writes what the policy wrote: texts and names letter for letter, arguments value for value.

A template may replace, re-join or leave out text, and whoever trains on its rendering trains words that were never
sampled. White space at the ends of a text may differ. Arguments may be written as any JSON of the same value, or in a
way of the template's own (`<parameter=city>Oslo</parameter>`, `get(city='Oslo')`): then each value stands behind its
key, or, where no key stands at all, the values stand in order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from trajcredit.tokens.finding import NotFoundInTextError, Wanted
from trajcredit.tokens.territories import Piece, territories

__all__ = ["check_words", "excerpts", "holds_arguments"]

MOST_OBJECTS = 64
"""JSON objects that are looked at in what one call owns."""
MARKUP = 200
"""Most characters of markup between a key and its value."""
MOST_PLACES = 1000
"""Places at which one key is looked for."""
SHOWN = 40

_decode = msgspec.json.Decoder().decode
_scan = json.JSONDecoder(strict=False).raw_decode
_TAG = re.compile(r"<[^<>]*>")
_TAG_GOES_ON = re.compile(r"""["']?(?:\s+[\w-]+=(?:"[^"<>]*"|'[^'<>]*'))*\s*>""")
_WORD = re.compile(r"\w").match


def check_words(text: str, pieces: Sequence[tuple[Wanted, Piece]]) -> None:
    """Every piece holds what is wanted there; NotFoundInTextError names the first span that was written otherwise.

    `text` is what follows the prompt; pieces are in order of their places, those of calls begin with the name.
    """
    for one, piece in pieces:
        core = one.text.strip()
        text_of = text[piece.start : piece.end].strip()
        written = text_of if one.arguments is None else _word(text, piece.start, len(core))
        if written != core:
            raise NotFoundInTextError(one.span, excerpts(written, core))
    if all(one.arguments is None for one, _ in pieces):
        return
    owned = {piece.span: piece for piece in territories(text, [piece for _, piece in pieces], -1)}
    for one, piece in pieces:
        if one.arguments is not None:
            mine = owned[one.span]
            name = piece.start + len(one.text)
            if not holds_arguments(text[mine.start : piece.start], text[name : mine.end], one):
                raise NotFoundInTextError(one.span, excerpts(text[name : mine.end].strip(), one.arguments[0], False))


def excerpts(written: str, logged: str, aligned: bool = True) -> str:
    """The reason, with what differs: where both begin alike, from shortly before they part."""
    at = 0
    if aligned:
        parted = (i for i, (a, b) in enumerate(zip(written, logged, strict=False)) if a != b)
        at = max(0, next(parted, min(len(written), len(logged))) - SHOWN // 4)
    return f"the chat template writes {written[at : at + SHOWN]!r} where the log has {logged[at : at + SHOWN]!r}"


def _word(text: str, at: int, size: int) -> str:
    """What stands at a place, with the letters that make it part of a longer word."""
    start, end = at, at + size
    while start > 0 and at - start < SHOWN and _WORD(text[start - 1]) and _WORD(text[start]):
        start -= 1
    while end < len(text) and end - at < size + SHOWN and _WORD(text[end]) and _WORD(text[end - 1]):
        end += 1
    return text[start:end]


# ---------------------------------------------------------------- arguments


def holds_arguments(before: str, after: str, one: Wanted) -> bool:
    """Whether the arguments stand in what a call owns, before or behind its name."""
    assert one.arguments is not None
    logged = one.arguments[0]
    try:
        value = _decode(logged)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):  # templates are given these as text
        forms = {*one.arguments, *_escaped(logged)}
        return any(form.strip() in after or form.strip() in before for form in forms)
    if value and any(form in after or form in before for form in one.arguments):
        return True
    region = before + one.text + after
    objects = list(_objects(region))
    if any(_holds(found, value) for found in objects):
        return True
    if not value:
        return all(not any(isinstance(inner, dict | list) for inner in found.values()) for found in objects)
    return _by_keys(before + "\0" + after, value)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text, and those inside of what only looks like one."""
    at = 0
    for _ in range(MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            found, at = _scan(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        yield found


def _holds(found: Any, value: Any) -> bool:
    """Whether something decoded is this value, or holds it at any depth, as itself or as JSON in a text."""
    if _same(found, value):
        return True
    if isinstance(found, dict):
        return any(_holds(inner, value) for inner in found.values())
    if isinstance(found, list):
        return any(_holds(inner, value) for inner in found)
    if isinstance(found, str) and found.lstrip().startswith("{"):
        try:
            return _same(_decode(found), value)
        except (msgspec.DecodeError, RecursionError):
            return False
    return False


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: `true` is not 1, 1 is 1.0, the order of keys is nothing."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(inner, other[key]) for key, inner in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _by_keys(text: str, arguments: dict[str, Any]) -> bool:
    """Whether arguments stand in a way of the template's own.

    JSON keys (`"city":`) do not count: had they led to these values, the JSON would have been the same.
    """
    places = {key: _key_places(text, key) for key in arguments}
    if any(places.values()):
        return all(any(_follows(text, at, value) for at in places[key]) for key, value in arguments.items())
    if any(re.search(rf'"{re.escape(key)}"\s*:', text) for key in arguments):
        return False
    return _in_order(text, 0, list(arguments.values())) is not None


def _key_places(text: str, key: str) -> list[int]:
    """Where a key ends that is not a key of JSON."""
    found = re.finditer(rf'(?<!\w){re.escape(key)}(?!\w)(?!"\s*:)', text) if key else ()
    return [match.end() for match in islice(found, MOST_PLACES)]


def _follows(text: str, at: int, value: Any) -> bool:
    """Whether the value stands right behind a key: nothing but tags and signs between them."""
    if isinstance(value, dict | list):
        opening = "{" if isinstance(value, dict) else "["
        start = text.find(opening, at, at + MARKUP)
        if start >= 0 and _signs(text[at:start]):
            try:
                if _same(_scan(text, start)[0], value):
                    return True
            except (ValueError, RecursionError):
                pass
        return _in_order(text, at, list(value.values()) if isinstance(value, dict) else value) is not None
    forms = _forms(value)
    for form in forms:
        match = re.compile(_exact(form, value)).search(text, at, at + MARKUP + len(form) + 1)
        if match is not None and match.start() <= at + MARKUP and _signs(text[at : match.start()]):
            return True
    return not forms


def _signs(text: str) -> bool:
    """Whether a text is markup only; the tag that a key stands in may go on (`"city" string="true">`)."""
    begun = _TAG_GOES_ON.match(text)
    return not re.search(r"\w", _TAG.sub("", text[begun.end() if begun else 0 :]))


def _in_order(text: str, at: int, values: Sequence[Any]) -> int | None:
    """Where the last of these values ends, each behind the one before it."""
    for value in values:
        if isinstance(value, dict | list):
            end = _in_order(text, at, list(value.values()) if isinstance(value, dict) else value)
            if end is None:
                return None
            at = end
            continue
        forms = _forms(value)
        found = [match.end() for form in forms if (match := re.compile(_exact(form, value)).search(text, at))]
        if forms and not found:
            return None
        at = min(found, default=at)
    return at


def _exact(form: str, value: Any) -> str:
    """A pattern for a value that is no part of a longer word or number."""
    left, right = (r"(?<![\w.+-])", r"(?!\w|\.\d)") if isinstance(value, int | float) else (r"(?<!\w)", r"(?!\w)")
    return (left if re.match(r"\w|-", form) else "") + re.escape(form) + (right if re.search(r"\w$", form) else "")


def _forms(value: Any) -> list[str]:
    """How a value may be written that holds no other; none for a text without letters."""
    if isinstance(value, str):
        return list(
            dict.fromkeys(form for form in (value.strip(), *_escaped(value), repr(value)[1:-1]) if form.strip())
        )
    return list(dict.fromkeys([json.dumps(value), str(value)]))


def _escaped(text: str) -> tuple[str, str]:
    """A text as it stands in JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]
