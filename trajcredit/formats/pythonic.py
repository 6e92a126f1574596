"""Tool calls that are written as calls of Python: `[f(a=1), g()]`, `f(a=1)`."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import msgspec

from trajcredit.formats.entries import Part
from trajcredit.formats.parts import Arguments

__all__ = ["calls_in_python"]

LONGEST = 20_000
"""Characters that are parsed."""
CALL = ".call"
"""How Llama calls the tools that it was taught: `brave_search.call(query=...)`."""


def calls_in_python(text: str) -> list[Part]:
    """The calls of `[f(a=1), g()]` or `f(a=1)`; nothing where the text is anything else."""
    bare = text.strip()
    if not bare.endswith((")", ")]")) or len(bare) > LONGEST:
        return []
    try:
        with warnings.catch_warnings(action="ignore"):  # odd escapes in texts are no concern of the user's
            tree = ast.parse(bare, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
    found: list[Part] = []
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            return []
        value = _arguments(node)
        raw = ast.get_source_segment(bare, node)
        name = ast.unparse(node.func).removesuffix(CALL)
        found.append(Part("tool_call", name=name, arguments=Arguments(value, raw), inferred=True))
    return found


def _arguments(call: ast.Call) -> dict[str, Any] | None:
    """Keyword arguments by name, others by place; null where one is no literal."""
    try:
        values = {str(place): ast.literal_eval(given) for place, given in enumerate(call.args)}
        values |= {given.arg or "**": ast.literal_eval(given.value) for given in call.keywords}
        return msgspec.json.decode(msgspec.json.encode(values), type=dict[str, Any])
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, msgspec.MsgspecError):
        return None
