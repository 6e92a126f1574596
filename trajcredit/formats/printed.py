"""JSON objects that a program printed over several lines each, one after the other, perhaps between other words.

That is what the console exporter of OpenTelemetry writes, and `jq` without `-c`: an object begins with a line that is
`{` and ends with one that is `}`, since whatever stands in between is indented.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Printed", "printed_objects"]


MOST_CUT = 1000
"""Objects without an end, more than those with one: what has them is no log that a program printed."""


@dataclass(slots=True)
class Printed:
    """The bytes of each object by the line it begins in (from 1), and the lines that belong to none."""

    objects: list[tuple[int, bytes]] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    whole: int = 0
    """Objects that end; the others were cut off."""
    size: int = 0
    """Bytes of the objects."""


def printed_objects(data: bytes) -> Printed | None:
    """The objects in what a program printed; null where there are not several, nor one between other words.

    Among other words they must be most of it: a page of prose that shows an object is no log.
    """
    if b"\n{\n" not in data and b"\n{\r\n" not in data and b"\n}" not in data:
        return None
    found = _found(data)
    several = len(found.objects) > 1 or (found.objects and found.others)
    return found if found.whole and several and 2 * found.size > len(data) else None


def _found(data: bytes) -> Printed:
    found = Printed()
    begun, start, at = 0, 0, 0

    def close(end: int) -> None:
        found.objects.append((begun, data[start:end]))
        found.size += end - start

    for number, line in enumerate(data.split(b"\n"), 1):
        bare = line.rstrip()
        if bare == b"{":
            if begun:
                close(at)
                if len(found.objects) > MOST_CUT + 2 * found.whole:
                    return Printed()
            begun, start = number, at
        elif begun and bare == b"}":
            close(at + len(bare))
            found.whole += 1
            begun = 0
        elif not begun and bare:
            found.others.append(number)
        at += len(line) + 1
    if begun:
        close(len(data))
    return found
