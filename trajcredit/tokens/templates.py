"""Chat templates: Jinja as tokenizers ship it, in a sandbox that also bounds how long it runs and how much it writes.

The environment is the one of Hugging Face transformers (`utils/chat_template_utils.py`): immutable sandbox,
`trim_blocks`, `lstrip_blocks`, loop controls, `tojson` without ASCII escapes, `raise_exception`, `strftime_now` and the
`generation` tag; `lipsum`, which writes at random, is left out. A template is somebody else's program: see `bounds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from types import BuiltinMethodType
from typing import Any

from jinja2 import TemplateError, nodes, pass_context
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from trajcredit.errors import InputError
from trajcredit.tokens.bounds import (
    Meter,
    bounded,
    check_binop,
    check_method,
    check_result,
    check_size,
    check_width,
    compared,
    written,
)

__all__ = ["CLOCK", "CLOSE", "OPEN", "TODAY", "Template", "clock"]

LARGEST_TEMPLATE = 1_000_000
SHORT = 4096
"""A text of fewer letters costs nothing."""
LONGEST_DATE = 1000
"""Letters of the format of a date."""
TODAY = datetime(2024, 7, 26)
"""What strftime_now says by default: the same on every run."""
CLOCK = "strftime_now"
OPEN, CLOSE = "\U0010fff0", "\U0010fff1"
"""Around what a template marks as generated; characters for private use, taken out again."""


COMPARING = frozenset(
    {"==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", ">=", "ge", "<", "lt", "lessthan", "<=", "le", "in"}
)
"""Tests that compare all of what they are given."""
BUILT_IN = (str, bytes, int, float, list, tuple, dict, set, frozenset, range)
"""Kinds of values whose methods may build or compare much."""


class _Code(CodeGenerator):
    """Calls what `_guard_all` put into a template without the sandbox around it."""

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:  # noqa: N802 - Jinja's
        """As the class itself does, but for methods of the environment."""
        if not isinstance(node.node, nodes.EnvironmentAttribute):
            super().visit_Call(node, frame, forward_caller=forward_caller)
            return
        self.visit(node.node, frame)
        self.write("(")
        for value in node.args:
            self.visit(value, frame)
            self.write(", ")
        self.write(")")


class _Environment(ImmutableSandboxedEnvironment):
    """Looks at what makes long texts, large lists or numbers before it is made, and counts."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])
    code_generator_class = _Code

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, LoopControlExtension],
            optimized=False,  # what is worked out while compiling would not count
        )
        meter = self.meter = Meter()
        self.weighed, self.passed = meter.weighed, meter.passed
        self.finalize = self._finalize
        self.filters = {name: bounded(name, made, meter) for name, made in (self.filters | {"tojson": _tojson}).items()}
        tests: dict[str, Any] = self.tests
        self.tests = tests | {name: compared(tests[name], meter) for name in COMPARING}
        del self.globals["lipsum"]
        self.globals |= {"raise_exception": self._raise_exception, CLOCK: clock(TODAY)}

    def tick(self, letters: int) -> str:
        """One round of a loop or macro whose body has so many letters of its own; the call counts the step."""
        self.meter.step()
        self.meter.write(letters)
        return ""

    def concat_(self, *values: Any) -> str:
        """What `~` does."""
        for value in values:
            self.meter.weighed(value)
        return written(str(value) for value in values)

    def call(self, context: Context, obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call that a template makes."""
        self.meter.step()
        method = obj if isinstance(obj, BuiltinMethodType | Macro) else getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, BUILT_IN):
            check_method(owner, getattr(method, "__name__", ""), args, kwargs, self.meter)
        return self.meter.passed(check_result(super().call(context, obj, *args, **kwargs)))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """An attribute; methods that format are looked at before they are called."""
        if isinstance(obj, str):
            check_width(attribute, obj, ())
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """An element, or an attribute by its name."""
        if isinstance(obj, str) and isinstance(argument, str):
            check_width(argument, obj, ())
        elif isinstance(argument, tuple):
            self.meter.weighed(argument)
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator whose result can be far larger than its operands."""
        if operator == "+" and type(left) is str is type(right) and len(left) + len(right) < SHORT:
            return left + right
        check_binop(operator, left, right)
        return self.meter.passed(check_result(super().call_binop(context, operator, left, right)))

    @pass_context
    def _finalize(self, context: Context, value: Any) -> Any:
        """Everything that an expression writes passes here; given the context, constants do while rendering, too."""
        if not isinstance(value, str):
            self.meter.weighed(value)
            value = str(value)
        self.meter.write(len(value))
        return value

    def _raise_exception(self, message: Any) -> None:
        raise TemplateError(str(self.meter.weighed(message)))


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
            self.dated = any(name.name == CLOCK and name.ctx == "load" for name in tree.find_all(nodes.Name))
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
        self._environment.meter.start(marking)
        known = {**variables, "messages": messages, "tools": tools, "documents": None, "add_generation_prompt": prompt}
        try:
            pieces = []
            for piece in self._template.generate(known):
                pieces.append(piece)
            text = "".join(pieces)
        except Exception as error:  # a template is foreign code and raises what it likes
            raise InputError(f"{self.file}: the chat template failed: {type(error).__name__}: {error}") from error
        return text


# ---------------------------------------------------------------- what is put into a template


def _count_steps(tree: nodes.Template, environment: _Environment) -> None:
    """Put a call at the start of every loop and macro, and in the place of `~`, so that nothing repeats uncounted."""
    repeating: list[nodes.For | nodes.Macro] = [*tree.find_all(nodes.For), *tree.find_all(nodes.Macro)]
    for repeated in repeating:
        letters = sum(len(data.data) for data in repeated.find_all(nodes.TemplateData))
        tick = nodes.EnvironmentAttribute("tick")
        repeated.body.insert(0, nodes.ExprStmt(nodes.Call(tick, [nodes.Const(letters)], [], None, None)))
    _guard_all(tree)
    tree.set_environment(environment)
    tree.set_lineno(1)


def _guard_all(node: nodes.Node) -> None:
    for name, value in node.iter_fields():
        if isinstance(value, nodes.Node):
            setattr(node, name, _guarded(value))
        elif isinstance(value, list):
            setattr(node, name, [_guarded(item) if isinstance(item, nodes.Node) else item for item in value])


def _guarded(node: nodes.Node) -> nodes.Node:
    """The node, with calls where the sandbox does not look: `~`, comparisons, slices, keys, filtered loops."""
    _guard_all(node)
    match node:
        case nodes.Concat():
            return _call("concat_", node.nodes)
        case nodes.Compare():
            sides = [node.expr, *(operand.expr for operand in node.ops)]
            if len(node.ops) > 1 or node.ops[0].op in ("in", "notin") or not any(map(_constant, sides)):
                node.expr = _weighed(node.expr)
                for operand in node.ops:
                    operand.expr = _weighed(operand.expr)
        case nodes.Getitem(arg=nodes.Slice()):
            node.node = _call("passed", [node.node])
        case nodes.Pair():
            node.key = _weighed(node.key)
        case nodes.For() if node.test is not None:
            node.iter = _call("passed", [node.iter])
    return node


def _call(name: str, values: list[Any]) -> nodes.Call:
    """A call of a method of the environment; not one that the template makes: it counts no step."""
    return nodes.Call(nodes.EnvironmentAttribute(name), values, [], None, None)


def _weighed(node: nodes.Expr) -> nodes.Expr:
    return node if _constant(node) else _call("weighed", [node])


def _constant(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.Const) or (
        isinstance(node, nodes.List | nodes.Tuple) and all(isinstance(item, nodes.Const) for item in node.items)
    )


def _generation_blocks(tree: nodes.Template) -> Iterator[nodes.CallBlock]:
    for block in tree.find_all(nodes.CallBlock):
        attribute = block.call.node
        if isinstance(attribute, nodes.ExtensionAttribute) and attribute.identifier == _Generation.identifier:
            yield block


# ---------------------------------------------------------------- what templates call


def clock(now: datetime) -> Callable[[str], str]:
    """`strftime_now` of this moment."""

    def strftime_now(form: str) -> str:
        if len(form) > LONGEST_DATE:
            raise TemplateError(f"a date in a format of {len(form)} characters: at most {LONGEST_DATE}")
        return now.strftime(form)

    return strftime_now


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as it is written for models: letters as they are, nothing escaped for HTML."""
    check_width("indent", "", (indent,))
    for between in separators or ():
        check_size(len(between) << 16)
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    return encoder.encode(value) if indent is None else written(encoder.iterencode(value))
