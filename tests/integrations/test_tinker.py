"""Tinker's plug-in without Tinker: what it refuses. With it: tests/interop/test_tinker.py."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tests.exporters.token_rows import two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.tinker import Tinker
from trajcredit.integrations.tinker import datums


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "a.jsonl").open("wb") as out:
        Tinker().encode(iter([two_turns()]), out)
    return tmp_path / "a.jsonl"


def test_without_tinker_it_says_what_to_install(path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "tinker", None)
    with pytest.raises(InputError, match=r"this plug-in needs tinker>=0\.38"):
        next(datums(path))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"mask":[0.0,1.0', '"mask":[0.0,0.0', r"a\.jsonl:1: token 1 has advantage 0.5 and mask 0"),
        ('"logprobs":[0.0,', '"logprobs":[', r"a\.jsonl:1: lists of one length are expected"),
    ],
)
def test_a_line_that_does_not_fit_is_refused(path, monkeypatch, old, new, what) -> None:
    monkeypatch.setitem(sys.modules, "tinker", SimpleNamespace())
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=what):
        next(datums(path))
