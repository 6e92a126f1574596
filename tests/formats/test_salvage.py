"""Archives that were cut off: the members before the cut are read, and the cut is an error."""

from __future__ import annotations

import os
import zipfile
from io import BytesIO

import pytest

from trajcredit.errors import ParseError
from trajcredit.formats import read_bytes
from trajcredit.formats.salvage import salvaged
from trajcredit.model import Trajectory

START = b'{"version": 2, "status": "started", "eval": {"task": "t", "run_id": "r"}, "plan": {}}'


def sample(number: int) -> bytes:
    talk = f'[{{"role": "user", "content": "{os.urandom(300).hex()}"}}, {{"role": "assistant", "content": "ok"}}]'
    return f'{{"id": {number}, "epoch": 1, "input": "hi", "target": "", "messages": {talk}}}'.encode()


def archive(method: int, **members: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        packed.writestr("_journal/start.json", START)
        for name, data in members.items():
            packed.writestr(f"samples/{name}_epoch_1.json", data)
    return file.getvalue()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def test_the_samples_before_the_cut_are_read_and_the_cut_is_named(method: int) -> None:
    whole = archive(method, **{str(number): sample(number) for number in range(1, 6)})
    cut = whole.index(b"samples/4_epoch_1.json") + 60
    found = list(read_bytes(whole[:cut], "a.eval"))
    assert [len(item.spans) for item in found if isinstance(item, Trajectory)] == [2, 2, 2]
    assert [str(item) for item in found if isinstance(item, ParseError)] == [
        "a.eval: the zip archive is damaged or cut off: it has no end; read up to member 4, which is the last whole one"
    ]


def test_a_member_whose_check_sum_differs_is_where_it_ends() -> None:
    whole = bytearray(archive(zipfile.ZIP_STORED, **{str(number): sample(number) for number in (1, 2, 3)}))
    at = whole.index(b"samples/2_epoch_1.json") + 100
    whole[at] ^= 1
    found = salvaged(bytes(whole[:-40]), 1 << 20)
    assert found is not None
    assert found[1] == 2


def test_what_is_no_cut_archive_is_left_alone() -> None:
    whole = archive(zipfile.ZIP_DEFLATED, one=sample(1))
    assert salvaged(whole, 1 << 20) is None
    assert salvaged(b"PK\x03\x04 and no more", 1 << 20) is None
    assert salvaged(b"{}", 1 << 20) is None


def test_a_cut_bomb_is_left_out() -> None:
    bomb = archive(zipfile.ZIP_DEFLATED, one=b" " * (2 << 20))
    found = salvaged(bomb[:-60], 1 << 20)
    assert found is not None
    assert (found[1], len(found[0]) < 1 << 10) == (1, True)
