"""Every numba kernel has a torch twin of the same signature, or an entry that says why not; torch stays unloaded."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

from trajcredit import kernels
from trajcredit.kernels import gpu

FOLDER = Path(kernels.__file__).parent
FITTED = [path.stem for path in sorted(FOLDER.glob("*.py")) if path.stem not in {"__init__", "jit"}]


def compiled(module: str) -> bool:
    """Whether a module has a function under @jit."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return any(isinstance(d, ast.Name) and d.id == "jit" for function in functions for d in function.decorator_list)


def public(module: str) -> dict[str, list[str]]:
    """The public functions of a module, and the names of what they take."""
    loaded = importlib.import_module(f"trajcredit.kernels.{module}")
    found = {name: getattr(loaded, name) for name in getattr(loaded, "__all__", dir(loaded))}
    plain = {name: getattr(f, "py_func", f) for name, f in found.items()}
    return {
        name: list(inspect.signature(f).parameters)
        for name, f in plain.items()
        if isinstance(f, FunctionType) and f.__module__ == loaded.__name__
    }


COMPILED = [module for module in FITTED if compiled(module)]


@pytest.mark.parametrize("module", [module for module in COMPILED if module not in gpu.WITHOUT])
def test_every_kernel_has_a_twin_of_its_signature(module: str) -> None:
    functions = public(module)
    assert functions
    for name, taken in functions.items():
        assert name in gpu.__all__, f"{module}.{name} has no twin in kernels.gpu and no reason in WITHOUT"
        assert list(inspect.signature(getattr(gpu, name)).parameters) == taken


def test_whoever_has_no_twin_is_a_module_with_kernels_and_a_reason() -> None:
    assert set(gpu.WITHOUT) <= set(COMPILED)
    for reason in gpu.WITHOUT.values():
        assert len(reason.split()) > 5
    twinned = {name for module in COMPILED if module not in gpu.WITHOUT for name in public(module)}
    assert twinned | {"WITHOUT", "ancestor_sets", "pack_rescale"} == set(gpu.__all__)


def test_neither_the_package_nor_the_command_line_nor_the_kernels_load_torch() -> None:
    code = "import sys, trajcredit, trajcredit.cli, trajcredit.kernels; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
