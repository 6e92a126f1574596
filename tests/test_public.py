"""What `import trajcredit` promises, and what it does not cost."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import trajcredit as tc

HEAVY = ("numba", "torch", "sqlalchemy", "fastapi", "pyarrow", "networkx", "numpy", "rich", "msgspec", "zstandard")
MODULES = [
    "trajcredit." + ".".join(path.relative_to(Path(tc.__file__).parent).with_suffix("").parts)
    for path in sorted(Path(tc.__file__).parent.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
]


@pytest.mark.parametrize("name", tc.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(tc, name) is not None
    assert name in dir(tc)


def test_public_names_are_listed_once_and_sorted() -> None:
    assert len(set(tc.__all__)) == len(tc.__all__)
    assert set(tc._HOME_OF) | {"__version__"} == set(tc.__all__)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tc.nothing  # noqa: B018


def test_what_the_contract_names_is_public() -> None:
    assert {"read", "batch", "attribute", "export"} <= set(tc.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_every_name_a_module_offers_is_defined_in_it(module: str) -> None:
    loaded = importlib.import_module(module)
    for name in getattr(loaded, "__all__", ()):
        assert hasattr(loaded, name)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import trajcredit", id="importing the package"),
        pytest.param(
            "from trajcredit.cli import main; import sys; sys.argv = ['trajcredit', '--help']\n"
            "try: main()\nexcept SystemExit as end: assert end.code == 0",
            id="trajcredit --help",
        ),
    ],
)
def test_nothing_heavy_is_imported_by(code: str) -> None:
    look = f"{code}\nimport sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.strip() == ""
