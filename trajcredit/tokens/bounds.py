"""Bounds of a chat template: how much one rendering does, builds and writes, and for how long.

A template is somebody else's program, and cannot be interrupted within a function of Python. So everything that could
be large is weighed before it is made or walked: the elements and letters of a value, lists within lists counted each
time they occur, and the size of what an operator, method or filter is about to build. What remains is many small things
in a row: each counts steps, and looks at the clock.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from sys import getsizeof
from typing import Any

from jinja2 import TemplateError
from jinja2.utils import Namespace

__all__ = [
    "Meter",
    "bounded",
    "check_binop",
    "check_method",
    "check_result",
    "check_size",
    "check_width",
    "compared",
    "weigh",
    "written",
]

MOST_STEPS = 500_000
"""Rounds of loops and calls in one rendering; eight elements or 2 KiB that are read or made are one more."""
MOST_LETTERS = 64_000_000
"""That one rendering may write, and that any text in it may have."""
MOST_ELEMENTS = 1_000_000
"""Of one list, and of all lists within it, counted as often as they are printed."""
MOST_WIDTH = 1_000_000
"""A number that a filter or a method of a text takes: widths, counts."""
MOST_SECONDS = 20.0
"""The last net: a rendering takes milliseconds."""
MOST_SLOW = 20_000
"""Letters and elements that a filter takes which is slow for its input."""
MOST_COMPARED = 1_000_000_000
"""Letters of a text times letters sought from its end, which Python compares one by one."""

WIDENING = frozenset(
    {"center", "ljust", "rjust", "zfill", "expandtabs", "indent", "wordwrap"}
    | {"truncate", "batch", "slice", "round", "to_bytes"}
)
"""Methods and filters that write as much as a number says."""
FREE = frozenset(["length", "count", "default", "d", "first", "last", "attr"])
"""Filters that look at no more than one element."""
SHALLOW = frozenset(
    ["list", "reverse", "items", "batch", "slice", "map", "select", "reject", "selectattr", "rejectattr", "random"]
)
"""Filters that pass elements on as they are."""
SLOW = frozenset(["pprint", "urlize", "striptags", "xmlattr", "wordwrap", "indent"])
CUTTING = SHALLOW - {"reverse", "items"} | {"sort", "unique", "groupby", "min", "max", "sum", "join", "wordcount"}
"""Filters that make a list of the letters or words of a text."""
CAREFUL = WIDENING | SLOW | CUTTING | {"format", "replace"}
"""Filters at which more than the size of their input is looked at."""
BACKWARDS = frozenset(["rfind", "rindex", "rsplit", "rpartition"])

_TEXT = (str, bytes, bytearray)
_LISTS: tuple[Any, ...] = (list, tuple, set, frozenset, type({}.keys()), type({}.values()), type({}.items()))
_HELD: tuple[Any, ...] = (*_LISTS, dict)
_WALKED = (*_LISTS, dict, bytes, Namespace, int)
_SIZED = (*_TEXT, *_LISTS, dict, range)
_WIDE = re.compile(r"\d{7,}|\*|:[^{}]*\{")
"""In a format: a width that is a large number, or is given from outside."""


class Meter(threading.local):
    """What the rendering of this thread has used."""

    steps = 0
    letters = 0
    until = float("inf")
    marking = False

    def start(self, marking: bool) -> None:
        """A rendering begins."""
        self.steps, self.letters, self.marking = 0, 0, marking
        self.until = time.monotonic() + MOST_SECONDS

    def step(self, n: int = 1) -> None:
        """So many steps more."""
        self.steps += n
        if self.steps > MOST_STEPS:
            raise TemplateError(f"it takes more than {MOST_STEPS} steps")
        if time.monotonic() > self.until:
            raise TemplateError(f"it takes longer than {MOST_SECONDS:g} seconds")

    def write(self, n: int) -> None:
        """So many letters more."""
        self.letters += n
        if self.letters > MOST_LETTERS:
            raise TemplateError(f"it writes more than {MOST_LETTERS} characters")

    def passed(self, value: Any) -> Any:
        """A value, of which each element is looked at or copied; not what is in its elements."""
        if isinstance(value, _SIZED) and (n := len(value)) > 7:
            n = getsizeof(value) >> 11 if isinstance(value, _TEXT) else n >> 3
            if n:
                self.step(n)
        return value

    def weighed(self, value: Any) -> Any:
        """A value, all of which is printed, compared or hashed."""
        if isinstance(value, str):
            if len(value) > 4095:
                self.step(len(value) >> 11)
        elif isinstance(value, _WALKED):
            elements, letters = weigh(value)
            self.step((elements >> 3) + (letters >> 11))
        return value

    def counted(self, values: Iterator[Any]) -> Iterator[Any]:
        """What a filter gives one by one."""
        for n, value in enumerate(values):
            if n & 7 == 7:
                self.step()
            yield value


# ---------------------------------------------------------------- sizes


def weigh(value: Any) -> tuple[int, int]:
    """Elements and letters of a value as it would be printed; TemplateError beyond what is allowed."""
    stack = [value]
    elements = letters = 0
    while stack:
        item = stack.pop()
        elements += 1
        if isinstance(item, str):
            letters += len(item)
            continue
        if isinstance(item, Namespace):
            item = object.__getattribute__(item, "_Namespace__attrs")
        if isinstance(item, dict):
            _check_elements(elements + len(stack) + 2 * len(item))
            stack += item
            stack += item.values()
        elif isinstance(item, int):
            letters += max(int(item).bit_length() >> 1, 1)
        elif isinstance(item, _TEXT):
            letters += len(item)
        elif isinstance(item, _LISTS):
            _check_elements(elements + len(stack) + len(item))
            stack += item
    check_size(letters)
    return elements, letters


def check_size(n: int) -> None:
    """Of a text that is to be."""
    if n > MOST_LETTERS:
        raise TemplateError(f"it makes something of {n} characters: at most {MOST_LETTERS}")


def _check_elements(n: int) -> None:
    if n > MOST_ELEMENTS:
        raise TemplateError(f"it makes or reads something of {n} elements: at most {MOST_ELEMENTS}")


def check_result(value: Any) -> Any:
    """What came out of a call or operator."""
    if isinstance(value, _TEXT):
        check_size(len(value))
    elif isinstance(value, _HELD):
        _check_elements(len(value))
    elif isinstance(value, int) and value.bit_length() > 4096:
        raise TemplateError("a number has more than 4096 bits")
    return value


def check_width(name: str, text: Any, values: Sequence[Any]) -> None:
    """A filter or method of this name, on this text, with these arguments."""
    if name in ("format", "format_map") and isinstance(text, str):
        if _WIDE.search(text):
            raise TemplateError("a format asks for a very wide field")
        if len(text) > 20:
            check_size(sum(int(number) for number in re.findall(r"\d+", text)))
    for value in values if name in WIDENING else ():
        if isinstance(value, int) and abs(value) > MOST_WIDTH:
            raise TemplateError(f"{name} by {value}: at most {MOST_WIDTH}")


def _check_format(text: str, values: Any) -> None:
    """A format with its values: every field may write all of them."""
    check_width("format", text, ())
    elements, letters = weigh(values)
    fields = text.count("{") + text.count("%")
    check_size(len(text) + fields * (letters + 8 * elements) if fields > 1 else 0)


# ---------------------------------------------------------------- operators and methods


def check_binop(operator: str, left: Any, right: Any) -> None:
    """An operator whose result can be far larger than its operands."""
    if operator == "+":
        if isinstance(left, _TEXT) and isinstance(right, _TEXT):
            check_size(len(left) + len(right))
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            _check_elements(len(left) + len(right))
    elif operator == "*":
        for many, times in ((left, right), (right, left)):
            if isinstance(times, int) and isinstance(many, _TEXT):
                check_size(len(many) * max(times, 0))
            elif isinstance(times, int) and isinstance(many, list | tuple):
                _check_elements(len(many) * max(times, 0))
    elif operator == "**" and not (abs(left) <= MOST_WIDTH and abs(right) <= 64):
        raise TemplateError(f"{left} ** {right} is too large")
    elif operator == "%" and isinstance(left, str | bytes):
        _check_format(left if isinstance(left, str) else left.decode("latin-1"), right)


def check_method(owner: Any, name: str, args: Sequence[Any], named: Mapping[str, Any], meter: Meter) -> None:
    """A method of a text, number or list that is about to be called."""
    values = (*args, *named.values()) if named else args
    if name in WIDENING:
        check_width(name, owner, values)
    if isinstance(owner, _TEXT):
        meter.passed(owner)
        for value in values:
            meter.weighed(value)
        _check_text(owner, name, args, named)
    elif isinstance(owner, _LISTS) and name in ("index", "count"):
        meter.weighed(owner)
        meter.weighed(values)
    elif isinstance(owner, dict) and name in ("get", "fromkeys"):
        meter.weighed(args[:1])
    else:
        meter.passed(owner)


def _check_text(owner: Any, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    if name in ("format", "format_map"):
        _check_format(owner, [*args, *named.values()])
    elif name == "replace" and len(args) > 1:
        _check_replacing(owner, args[0], args[1])
    elif name == "join" and args:
        _check_joining(owner, args[0])
    elif name == "expandtabs":
        width = args[0] if args else named.get("tabsize", 8)
        check_size(len(owner) + owner.count("\t") * width if isinstance(owner, str) and isinstance(width, int) else 0)
    elif name in ("split", "rsplit", "splitlines"):
        apart = args[0] if args and name != "splitlines" else None
        _check_elements(owner.count(apart) if apart else len(owner) >> 1)
    elif name in ("translate", "maketrans"):
        raise TemplateError(f"{name} is not available to chat templates")
    if name in BACKWARDS and args and isinstance(args[0], _TEXT) and len(owner) * len(args[0]) > MOST_COMPARED:
        raise TemplateError(f"{name} of {len(args[0])} characters in {len(owner)} is too slow")


def _check_replacing(text: Any, old: Any, new: Any) -> None:
    if type(old) is type(text) is type(new):
        check_size(len(text) + text.count(old) * len(new))


def _check_joining(between: Any, values: Any) -> None:
    """Values that are not a list are made one by one, and weighed as they are."""
    if isinstance(between, _TEXT) and isinstance(values, _SIZED):
        _check_elements(len(values))
        check_size(weigh(values)[1] + len(between) * len(values))


# ---------------------------------------------------------------- filters and tests


def bounded(name: str, made: Callable[..., Any], meter: Meter) -> Callable[..., Any]:
    """A filter whose input and output are bounded, and count."""
    if name in FREE:
        return made
    hidden = int(hasattr(made, "jinja_pass_arg"))
    walk = meter.passed if name in SHALLOW else meter.weighed
    careful = name in CAREFUL

    @wraps(made)
    def called(*args: Any, **named: Any) -> Any:
        values = (*args[hidden:], *named.values())
        if name not in SHALLOW and values and hasattr(values[0], "__next__"):
            values = (list(values[0]), *values[1:])
            args = (*args[:hidden], values[0], *args[hidden + 1 :])
        meter.step()
        for value in values:
            walk(value)
        if careful:
            check_width(name, values[0] if values else None, values[1:])
            _check_filter(name, values, meter)
        result = made(*args, **named)
        return meter.counted(result) if hasattr(result, "__next__") else check_result(result)

    return called


def compared(made: Callable[..., Any], meter: Meter) -> Callable[..., Any]:
    """A test that compares what it is given."""

    @wraps(made)
    def called(*args: Any) -> Any:
        for value in args:
            meter.weighed(value)
        return made(*args)

    return called


def _check_filter(name: str, values: Sequence[Any], meter: Meter) -> None:
    if name in SLOW and sum(sum(weigh(value)) for value in values) > MOST_SLOW:
        raise TemplateError(f"{name} of more than {MOST_SLOW} characters is too slow")
    if name in CUTTING and values and isinstance(values[0], _TEXT):
        _check_elements(len(values[0]))
        meter.step(len(values[0]) >> 3)
    if name == "format":
        _check_format(str(values[0]), list(values[1:]))
    elif name == "replace" and len(values) > 2:
        _check_replacing(*(str(value) for value in values[:3]))
    elif name == "join" and len(values) > 1:
        _check_joining(str(values[1]), values[0])
    elif name == "indent" and len(values) > 1:
        width = values[1] if isinstance(values[1], int) else len(str(values[1]))
        check_size(str(values[0]).count("\n") * width)
    elif name == "sum" and any(isinstance(value, (*_TEXT, *_LISTS)) for value in values[1:]):
        elements = weigh(values[0])[0]
        meter.step(elements * elements >> 10)


def written(chunks: Iterable[str]) -> str:
    """Pieces of a text, put together unless they grow beyond what is allowed."""
    kept: list[str] = []
    length = 0
    for chunk in chunks:
        kept.append(chunk)
        length += len(chunk)
        check_size(length)
    return "".join(kept)
