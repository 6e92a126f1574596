"""The OpenAPI document: printed as served, the same every time, as docs/http.md says, its examples of their models."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tests.api.speaking import Api
from trajcredit.api import models
from trajcredit.api.openapi import document
from trajcredit.store import open_store

ROOT = Path(__file__).parents[2]
DOCUMENT = json.loads(document())
OPERATIONS = [
    pytest.param(operation, id=f"{method.upper()} {path}")
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
]


def test_it_is_printed_as_it_is_served(sqlite_url: str) -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "trajcredit.api.openapi"], capture_output=True, check=True, cwd=ROOT
    )
    assert printed.stdout.decode() == document()
    with open_store(sqlite_url) as store:
        assert Api(store).send("GET", "/openapi.json").json() == DOCUMENT


def test_the_docs_name_every_route_and_no_other() -> None:
    text = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    said: set[tuple[str, str]] = set()
    for row in re.findall(r"^\| ((?:GET|POST|DELETE)[^|]*)\|", text, re.MULTILINE):
        for method, path in re.findall(r"(GET|POST|DELETE) (/[^\s,]*)", row):
            said.add((method.lower(), path if path == "/healthz" else f"/api/v1{path}"))
    assert said == {(method, path) for path, item in DOCUMENT["paths"].items() for method in item}


def test_the_docs_name_every_parameter() -> None:
    text = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    names = {
        one["name"] for item in DOCUMENT["paths"].values() for op in item.values() for one in op.get("parameters", [])
    }
    missing = [name for name in names if name not in ("id", "project", "Idempotency-Key") and f"`{name}`" not in text]
    assert missing == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_says_what_it_gives(operation: dict[str, Any]) -> None:
    assert operation["summary"]
    problem = operation["responses"]["default"]["content"]
    assert problem == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    good = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
    assert len(good) == 1
    assert good[0]["content"]


def examples() -> Iterator[tuple[str, Any]]:
    """Every example of a body that has a model: the name of the model, and the example."""
    for operation in (operation for item in DOCUMENT["paths"].values() for operation in item.values()):
        for body in (operation.get("requestBody", {}), *operation["responses"].values()):
            for content in body.get("content", {}).values():
                name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
                if "example" in content and name:
                    yield name, content["example"]


@pytest.mark.parametrize(("name", "example"), list(examples()))
def test_examples_fit_their_models(name: str, example: dict[str, Any]) -> None:
    model: type[BaseModel] = getattr(models, name)
    read = model.model_validate(example).model_dump(mode="json", by_alias=True)
    assert example.keys() <= read.keys()


@pytest.mark.parametrize(
    ("path", "method"),
    [("/trajectories", "post"), ("/rewards", "post"), ("/runs", "post"), ("/trajectories", "get")],
)
def test_what_one_starts_with_has_examples(path: str, method: str) -> None:
    operation = DOCUMENT["paths"][f"/api/v1{path}"][method]
    assert "example" in json.dumps(operation["responses"])
    if method == "post":
        assert "example" in json.dumps(operation["requestBody"])


def test_every_reference_leads_somewhere() -> None:
    for name in re.findall(r'"#/components/schemas/(\w+)"', document()):
        assert name in DOCUMENT["components"]["schemas"]
