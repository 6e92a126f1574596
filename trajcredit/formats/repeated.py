"""Messages in the attributes of spans, each read once: a request repeats those of the one before it.

| note | says |
| --- | --- |
| `broken-attribute` | an attribute that should hold JSON does not (cut off, perhaps): kept as the text it is |
| `sanitised` | half a surrogate pair or a NUL in the messages was replaced |
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.dotted import Lists
from trajcredit.formats.repair import mended
from trajcredit.formats.said import Message, messages_of, piece
from trajcredit.formats.steps import Step

__all__ = ["Reading"]

_raws = msgspec.json.Decoder(list[msgspec.Raw])


class Reading:
    """Messages that were read before in this log: each request repeats those of the one before it."""

    def __init__(self) -> None:
        self._known: dict[bytes, list[Message]] = {}
        self.lists = Lists()

    def messages(self, logged: Any, role: str, step: Step, key: str) -> list[Message]:
        """The messages under a key; text that should be JSON and is none is kept, with a note."""
        try:
            if isinstance(logged, str) and logged.lstrip()[:1] in ("[", "{"):
                clean = _clean(logged)
                if clean is not None:
                    step.notes.append(("sanitised", f"span {step.id}: {key}: half a surrogate pair or a NUL replaced"))
                data = clean or logged
                raws = _raws.decode(data) if logged.lstrip().startswith("[") else []
                messages = [bytes(raw) for raw in raws]
                if messages and all(raw.startswith(b"{") and b'"role"' in raw for raw in messages):
                    return [message for raw in messages for message in self._message(raw, role)]
                logged = msgspec.json.decode(data)
            return messages_of(logged, role)
        except InputError as error:
            step.notes.append(("broken-attribute", f"span {step.id}: {key}: {error}"))
        except (msgspec.DecodeError, RecursionError) as error:
            step.notes.append(("broken-attribute", f"span {step.id}: {key} is not JSON ({error}): kept as text"))
            return [(piece("assistant" if role == "assistant" else "user", str(logged)),)]
        return []

    def _message(self, raw: bytes, role: str) -> list[Message]:
        known = self._known.get(raw)
        if known is None:
            known = self._known[raw] = messages_of(msgspec.json.decode(raw), role)
        return known


def _clean(text: str) -> bytes | None:
    """The JSON without what no database can hold; null where that is in none of it."""
    if "\\u0000" not in text and "\\ud" not in text and "\\uD" not in text:
        return None
    data = text.encode()
    clean = mended(data)
    return clean if clean != data else None
