"""Chat templates: Jinja as tokenizers ship it, in a sandbox that also bounds how long it runs and how much it writes.

The environment is the one of Hugging Face transformers (`utils/chat_template_utils.py`): immutable sandbox,
`trim_blocks`, `lstrip_blocks`, loop controls, `tojson` without ASCII escapes, `raise_exception`, `strftime_now` and the
`generation` tag. A template is somebody else's program: every loop, macro and call counts as a step, every text that it
writes or builds counts its letters, and beyond the bounds the rendering ends with an error.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from trajcredit.errors import InputError

__all__ = ["CLOSE", "OPEN", "Template"]

MOST_STEPS = 500_000
"""Rounds of loops and calls in one rendering."""
MOST_LETTERS = 64_000_000
"""That one rendering may write, and that any text in it may have."""
MOST_WIDTH = 1_000_000
"""A number that a filter or a method of a text takes: widths, counts."""
LARGEST_TEMPLATE = 1_000_000
TODAY = datetime(2024, 7, 26)
"""What strftime_now says: the same on every run."""
OPEN, CLOSE = "\U0010fff0", "\U0010fff1"
"""Around what a template marks as generated; characters for private use, taken out again."""

WIDENING = frozenset(
    ["center", "ljust", "rjust", "zfill", "expandtabs", "indent", "wordwrap", "truncate", "batch", "slice"]
)
"""Methods and filters that write as much as a number says."""

_WIDE = re.compile(r"\d{7,}|\*|:[^{}]*\{")
"""In a format: a width that is a large number, or is given from outside."""


class _Meter(threading.local):
    """What the rendering of this thread has used."""

    steps = 0
    letters = 0
    marking = False

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TemplateError(f"it takes more than {MOST_STEPS} steps")

    def write(self, n: int) -> None:
        self.letters += n
        if self.letters > MOST_LETTERS:
            raise TemplateError(f"it writes more than {MOST_LETTERS} characters")


class _Environment(ImmutableSandboxedEnvironment):
    """Counts calls, and looks at what makes long texts or large numbers before it is made."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, LoopControlExtension])
        self.meter = _Meter()
        self.finalize = self._finalize
        self.filters = {name: _bounded(name, made) for name, made in self.filters.items()} | {"tojson": _tojson}
        self.globals |= {"raise_exception": _raise_exception, "strftime_now": TODAY.strftime}

    def tick(self, letters: int) -> str:
        """One round of a loop or macro whose body has so many letters of its own; the call counts the step."""
        self.meter.write(letters)
        return ""

    def concat_(self, *values: Any) -> str:
        """What `~` does."""
        return str(self._kept("".join(str(value) for value in values)))

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call that a template makes."""
        self.meter.step()
        text = getattr(obj, "__self__", None)
        if isinstance(text, str):
            _check_width(getattr(obj, "__name__", ""), text, (*args, *kwargs.values()))
        return self._kept(super().call(context, obj, *args, **kwargs))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """An attribute; methods that format are looked at before they are called."""
        if isinstance(obj, str):
            _check_width(attribute, obj, ())
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """An element, or an attribute by its name."""
        if isinstance(obj, str) and isinstance(argument, str):
            _check_width(argument, obj, ())
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator whose result can be far larger than its operands."""
        if operator == "+" and isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
            _check_size(len(left) + len(right))
        elif operator == "*":
            for many, times in ((left, right), (right, left)):
                if isinstance(many, str | list | tuple) and isinstance(times, int):
                    _check_size(len(many) * max(times, 0))
        elif operator == "**" and not (abs(left) <= MOST_WIDTH and abs(right) <= 64):
            raise TemplateError(f"{left} ** {right} is too large")
        elif operator == "%" and isinstance(left, str):
            _check_width("format", left, ())
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and result.bit_length() > 4096:
            raise TemplateError("a number has more than 4096 bits")
        return result

    def _finalize(self, value: Any) -> Any:
        """Everything that an expression writes passes here."""
        if isinstance(value, str):
            self.meter.write(len(value))
        return value

    def _kept(self, value: Any) -> Any:
        if isinstance(value, str):
            _check_size(len(value))
        return value


class _Generation(Extension):
    """`{% generation %}...{% endgeneration %}`: what the policy writes."""

    tags = {"generation"}  # noqa: RUF012 - as the base class has it

    def parse(self, parser: Parser) -> nodes.CallBlock:
        """The block as a call that puts marks around it."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        block = nodes.CallBlock(self.call_method("marked"), [], [], body)
        block.set_lineno(line)
        return block

    def marked(self, caller: Callable[[], str]) -> str:
        """The text of the block; between marks while they are wanted."""
        text = caller()
        return OPEN + text + CLOSE if self.environment.meter.marking else text  # type: ignore[attr-defined]


class Template:
    """A compiled chat template; safe to use from several threads."""

    def __init__(self, source: str, file: str) -> None:
        """InputError names the file where the template does not parse."""
        if len(source) > LARGEST_TEMPLATE:
            raise InputError(f"{file}: a chat template of {len(source)} characters: at most {LARGEST_TEMPLATE}")
        self.source = source
        self.file = file
        self._environment = _Environment()
        try:
            tree = self._environment.parse(source)
            self.marks = any(True for _ in _generation_blocks(tree))
            _count_steps(tree, self._environment)
            code = self._environment.compile(tree)
            self._template = self._environment.template_class.from_code(
                self._environment, code, self._environment.make_globals(None)
            )
        except (TemplateError, SyntaxError, RecursionError, ValueError, OverflowError) as error:
            raise InputError(f"{file}: not a chat template: {error}") from error

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Any] | None,
        variables: Mapping[str, Any],
        *,
        prompt: bool,
        marking: bool = False,
    ) -> str:
        """The text of the messages, ending in the generation prompt where asked; InputError says what went wrong.

        `marking` puts OPEN and CLOSE around generated text, where the template marks it.
        """
        meter = self._environment.meter
        meter.steps, meter.letters, meter.marking = 0, 0, marking
        known = {**variables, "messages": messages, "tools": tools, "documents": None, "add_generation_prompt": prompt}
        try:
            pieces = []
            for piece in self._template.generate(known):
                pieces.append(piece)
            text = "".join(pieces)
        except Exception as error:  # a template is foreign code and raises what it likes
            raise InputError(f"{self.file}: the chat template failed: {type(error).__name__}: {error}") from error
        _check_length(text, self.file)
        return text


# ---------------------------------------------------------------- bounds


def _check_length(text: str, file: str) -> None:
    if len(text) > MOST_LETTERS:
        raise InputError(f"{file}: the chat template wrote more than {MOST_LETTERS} characters")


def _check_size(n: int) -> None:
    if n > MOST_LETTERS:
        raise TemplateError(f"it makes something of {n} elements: at most {MOST_LETTERS}")


def _check_width(name: str, text: Any, values: Sequence[Any]) -> None:
    """A filter or method of this name, on this text, with these arguments."""
    if name in ("format", "format_map") and isinstance(text, str) and _WIDE.search(text):
        raise TemplateError("a format asks for a very wide field")
    for value in values if name in WIDENING else ():
        if isinstance(value, int) and abs(value) > MOST_WIDTH:
            raise TemplateError(f"{name} by {value}: at most {MOST_WIDTH}")


def _bounded(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that takes no huge width and gives no huge text."""

    @wraps(made)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        _check_width(name, args[0], (*args[1:], *kwargs.values()))
        result = made(*args, **kwargs)
        if isinstance(result, str):
            _check_size(len(result))
        return result

    return bounded


def _count_steps(tree: nodes.Template, environment: _Environment) -> None:
    """Put a call at the start of every loop and macro, and in the place of `~`, so that nothing repeats uncounted."""
    repeating: list[nodes.For | nodes.Macro] = [*tree.find_all(nodes.For), *tree.find_all(nodes.Macro)]
    for repeated in repeating:
        letters = sum(len(data.data) for data in repeated.find_all(nodes.TemplateData))
        tick = nodes.EnvironmentAttribute("tick")
        repeated.body.insert(0, nodes.ExprStmt(nodes.Call(tick, [nodes.Const(letters)], [], None, None)))
    _without_concat(tree)
    tree.set_environment(environment)
    tree.set_lineno(1)


def _without_concat(node: nodes.Node) -> None:
    for name, value in node.iter_fields():
        if isinstance(value, nodes.Node):
            setattr(node, name, _as_call(value))
        elif isinstance(value, list):
            setattr(node, name, [_as_call(item) if isinstance(item, nodes.Node) else item for item in value])


def _as_call(node: nodes.Node) -> nodes.Node:
    _without_concat(node)
    if not isinstance(node, nodes.Concat):
        return node
    return nodes.Call(nodes.EnvironmentAttribute("concat_"), node.nodes, [], None, None)


def _generation_blocks(tree: nodes.Template) -> Iterator[nodes.CallBlock]:
    for block in tree.find_all(nodes.CallBlock):
        attribute = block.call.node
        if isinstance(attribute, nodes.ExtensionAttribute) and attribute.identifier == _Generation.identifier:
            yield block


# ---------------------------------------------------------------- what templates call


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as it is written for models: letters as they are, nothing escaped for HTML."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: Any) -> None:
    raise TemplateError(str(message))
