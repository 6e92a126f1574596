"""Which variables a piece of Python sets and which it needs from before: what a persistent session passes on."""

from __future__ import annotations

import ast
import builtins
import warnings
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Variables", "variables_of"]

LONGEST = 20_000
"""Characters of code that are parsed."""
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Variables:
    """Names that code sets (or changes in place), and names it reads before setting them."""

    sets: frozenset[str]
    reads: frozenset[str]
    calls: str = ""
    """The function that the code calls, where that is all it does."""


@lru_cache(maxsize=4096)
def variables_of(code: str) -> Variables | None:
    """The variables of Python code at its top level; None for text that is not Python, or sets and reads nothing."""
    if not code or len(code) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in somebody's log is not our business
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    sets: set[str] = set()
    reads: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            sets.add(statement.name)
            continue
        loaded, stored = _names(statement)
        reads |= loaded - sets - _BUILTINS
        sets |= stored
    return Variables(frozenset(sets), frozenset(reads), _only_call(tree)) if sets or reads else None


def _only_call(tree: ast.Module) -> str:
    match tree.body:
        case [ast.Expr(ast.Call(ast.Name(name)))]:
            return name
    return ""


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Names one statement loads, and names it sets: df["x"] = 1 and x += 1 do both."""
    loaded: set[str] = set()
    stored: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
        elif isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            base = node.value
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                stored.add(base.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            loaded.add(node.target.id)
        elif isinstance(node, ast.alias):
            stored.add((node.asname or node.name).split(".")[0])
    return loaded, stored
