"""Paths -> bytes: what a path may name, and what compression may do to it."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import unpacking
from trajcredit.formats.names import short_names
from trajcredit.formats.sources import Source, expand, load, unpack
from trajcredit.formats.unpacking import CutOff

LOG = b'{"messages": []}\n' * 50


def shown(*paths: str | Path) -> list[str]:
    """What the paths lead to, as reports call it."""
    return [found.shown if isinstance(found, Source) else f"! {found}" for found in expand(paths)]


def names(*paths: str | Path) -> list[str]:
    """The names that ids are made of."""
    return [found.name for found in expand(paths) if isinstance(found, Source)]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three logs, two of them deeper down, and what must not be read as one."""
    for name in ("logs/b.json", "logs/deep/a.json", "logs/deep/c.json.gz", "logs/.hidden.json", "logs/.git/d.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LOG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["logs/b.json"], ["logs/b.json"], id="a file is itself"),
        pytest.param(
            ["logs"],
            ["logs/b.json", "logs/deep/a.json", "logs/deep/c.json.gz"],
            id="a folder is all its files, sorted, hidden ones left out",
        ),
        pytest.param(["logs/*.json"], ["logs/b.json"], id="a pattern is what it matches"),
        pytest.param(["logs/**/*.json"], ["logs/b.json", "logs/deep/a.json"], id="two stars go down"),
        pytest.param(["logs/d*"], ["logs/deep/a.json", "logs/deep/c.json.gz"], id="a matched folder is walked"),
        pytest.param(["-"], ["stdin"], id="a dash is standard input"),
        pytest.param(
            ["logs/**"],
            ["logs/b.json", "logs/deep/a.json", "logs/deep/c.json.gz"],
            id="a pattern that matches folders and what lies in them matches it once",
        ),
        pytest.param(
            ["nowhere.json", "logs/b.json"],
            ["! nowhere.json: no such file or folder", "logs/b.json"],
            id="a missing file is said, the next one is read",
        ),
        pytest.param(["*.xml"], ["! *.xml: no file matches this pattern"], id="a pattern that matches nothing is said"),
        pytest.param(["./logs//deep/../b.json"], ["logs/deep/../b.json"], id="reports show the path as given"),
        pytest.param(
            ["logs/b.json", "./logs/deep/../b.json", "-", "-"],
            [
                "logs/b.json",
                "! logs/deep/../b.json: is the same file as logs/b.json: read once",
                "stdin",
                "! stdin: is the same file as stdin: read once",
            ],
            id="a file that is named twice is read once",
        ),
        pytest.param(
            ["logs/deep/a.json", "logs/deep"],
            [
                "logs/deep/a.json",
                "! logs/deep/a.json: is the same file as logs/deep/a.json: read once",
                "logs/deep/c.json.gz",
            ],
            id="also where a folder holds it",
        ),
    ],
)
def test_what_paths_lead_to(logs: Path, paths: list[str], expected: list[str]) -> None:
    assert shown(*paths) == expected


def test_a_file_found_in_a_folder_need_not_be_a_log(logs: Path) -> None:
    assert [found.walked for found in expand(["logs/b.json", "logs/deep"]) if isinstance(found, Source)] == [
        False,
        True,
        True,
    ]


def test_a_name_does_not_tell_how_it_was_typed_nor_where_the_machine_keeps_its_files(logs: Path) -> None:
    os.chdir(logs / "logs" / "deep")
    assert names("../b.json") == names(logs / "logs" / "b.json") == names("../../logs")[:1] == ["b.json"]
    [source] = expand(["a.json"])
    assert isinstance(source, Source)
    assert (source.name, source.folder, source.shown) == ("a.json", "deep", "a.json")


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["/x/a.json"], ["a.json"], id="a file alone goes by its own name"),
        pytest.param(["/x/a.json", "/x/b.json"], ["a.json", "b.json"], id="so do two of one folder"),
        pytest.param(
            ["/x/a.json", "/y/a.json", "/y/b.json"], ["x/a.json", "y/a.json", "b.json"], id="folders part two"
        ),
        pytest.param(["/w/b/run/log", "/w/run/log"], ["b/run/log", "w/run/log"], id="as many as it takes"),
        pytest.param(["/a", "/x/a", "/x/x/a"], ["/a", "/x/a", "x/x/a"], id="down to the root"),
        pytest.param(["/x/a", "/x/./a"], ["/x/a", "/x/a"], id="two spellings of one path have one name"),
        pytest.param(["/x/ba", "/x/a"], ["ba", "a"], id="components are whole"),
        pytest.param(["/x/a\udcff"], ["a\\udcff"], id="bytes that are no text are escaped"),
        pytest.param([], [], id="nothing has no name"),
    ],
)
def test_the_shortest_end_of_a_path_that_no_other_has(paths: list[str], expected: list[str]) -> None:
    found = short_names(paths)
    assert [found[path] for path in paths] == expected


def test_files_and_folders_of_one_call_have_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("w/run/log.json", "run/log.json", "w/run/other.json", "stdin"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(LOG)
    monkeypatch.chdir(tmp_path / "w")
    found = expand(["run/log.json", "../run/log.json", "run/other.json", "../stdin", "-"])
    root = tmp_path.name
    assert [(source.name, source.folder) for source in found if isinstance(source, Source)] == [
        ("w/run/log.json", "w/run"),
        (f"{root}/run/log.json", f"{root}/run"),
        ("other.json", "w/run"),
        (f"{root}/stdin", root),
        ("stdin", None),
    ]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "run[1].json").write_bytes(LOG)
    assert names(tmp_path / "run[1].json") == ["run[1].json"]


def test_links_in_a_folder_are_followed_and_loops_are_not(logs: Path) -> None:
    (logs / "elsewhere").mkdir()
    (logs / "elsewhere" / "e.json").write_bytes(LOG)
    (logs / "logs" / "linked").symlink_to(logs / "elsewhere")
    (logs / "elsewhere" / "back").symlink_to(logs / "logs")
    (logs / "elsewhere" / "self").symlink_to("self")
    (logs / "logs" / "z-latest.json").symlink_to("b.json")
    found = expand(["logs"])
    assert [str(source.path) for source in found if isinstance(source, Source)] == [
        "logs/b.json",
        "logs/deep/a.json",
        "logs/deep/c.json.gz",
        "logs/linked/e.json",
    ]
    assert [str(error) for error in found if type(error) is SkippedFile] == [
        "logs/z-latest.json: is the same file as logs/b.json: read once"
    ]
    assert [str(error) for error in found if type(error) is ParseError] == [
        "logs/linked/self: cannot be read: Too many levels of symbolic links"
    ]


def test_links_do_not_change_names(logs: Path) -> None:
    (logs / "current").symlink_to("logs")
    (logs / "logs" / "best.json").symlink_to(logs / "logs" / "deep" / "a.json")
    found = [s for s in expand(["current/b.json", "current/best.json"]) if isinstance(s, Source)]
    assert [(source.name, source.folder) for source in found] == [("b.json", "logs"), ("best.json", "logs")]


def test_what_cannot_be_read_in_a_folder_is_said(logs: Path) -> None:
    (logs / "logs" / "gone.json").symlink_to("nowhere")
    os.mkfifo(logs / "logs" / "pipe")
    where = os.open(logs / "logs", os.O_RDONLY)
    for _ in range(20):  # deeper than any path may be long, also for root
        os.mkdir("d" * 250, dir_fd=where)
        where, above = os.open("d" * 250, os.O_RDONLY, dir_fd=where), where
        os.close(above)
    os.close(where)
    errors = [found for found in expand(["logs"]) if isinstance(found, ParseError)]
    assert [type(error) for error in errors] == [ParseError, SkippedFile, ParseError]
    said = [str(error).split("/")[-1] for error in errors]
    assert said[0] == "gone.json: cannot be read: No such file or directory"
    assert said[1] == "pipe: is neither a file nor a folder"
    assert said[2].endswith("d: cannot be read: File name too long")


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(LOG, id="plain"),
        pytest.param(gzip.compress(LOG), id="gzip"),
        pytest.param(gzip.compress(LOG[:100]) + gzip.compress(LOG[100:]), id="gzip in two members"),
        pytest.param(zstandard.compress(LOG), id="zstd"),
        pytest.param(zstandard.compress(LOG[:100]) + zstandard.compress(LOG[100:]), id="zstd in two frames"),
    ],
)
def test_compression_is_told_by_the_first_bytes(packed: bytes) -> None:
    assert unpack(packed, "a.log") == LOG


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(gzip.compress(LOG)[:12], id="gzip cut off before any byte of it"),
        pytest.param(gzip.compress(LOG)[:-6] + b"\0" * 6, id="gzip with a wrong checksum"),
        pytest.param(zstandard.compress(os.urandom(5000))[:-9], id="zstd cut off"),
        pytest.param(zstandard.compress(LOG)[:6] + b"\xff" * 20, id="zstd with garbage inside"),
        pytest.param(b"\x1f\x8b", id="two bytes of gzip"),
        pytest.param(b"\x28\xb5\x2f\xfd", id="four bytes of zstd"),
    ],
)
def test_a_damaged_archive_is_an_error_that_names_the_file(packed: bytes) -> None:
    with pytest.raises(ParseError, match=r"^a\.gz: the compressed file is damaged or cut off") as caught:
        unpack(packed, "a.gz")
    assert caught.value.file == "a.gz"


LINES = b"".join(b'{"n": %d, "random": "%s"}\n' % (n, os.urandom(400).hex().encode()) for n in range(200))


@pytest.mark.parametrize(
    ("packed", "what"),
    [
        pytest.param(gzip.compress(LINES)[:-50], "it ends inside a gzip member", id="gzip cut"),
        pytest.param(gzip.compress(LINES)[:-3], "it ends inside a gzip member", id="gzip cut in its check sum"),
        pytest.param(
            gzip.compress(LINES) + gzip.compress(LINES)[:30_000], "it ends inside a gzip member", id="the second member"
        ),
        pytest.param(gzip.compress(LINES) + b"more", "what follows at byte", id="something behind gzip"),
        pytest.param(zstandard.compress(LINES)[:-50], "it ends inside a zstd frame", id="zstd cut"),
        pytest.param(zstandard.compress(LINES) + b"more", "what follows at byte", id="something behind zstd"),
    ],
)
def test_what_came_before_the_cut_is_kept_and_the_cut_is_named(packed: bytes, what: str) -> None:
    with pytest.raises(CutOff) as caught:
        unpack(packed, "a.gz")
    cut = caught.value
    assert (LINES + LINES).startswith(cut.data)
    assert len(cut.data) > len(LINES) // 3
    lines = cut.data.count(b"\n") + (not cut.data.endswith(b"\n"))
    assert what in cut.reason
    assert cut.reason.endswith(f"read up to byte {len(cut.data):,}, line {lines} of what is in it")


def test_zeros_behind_gzip_are_padding_and_frames_that_zstd_skips_are_skipped() -> None:
    assert unpack(gzip.compress(LOG) + b"\0" * 512, "a.gz") == LOG
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
    assert unpack(zstandard.compress(LOG) + skipped + zstandard.compress(LOG), "a.zst") == LOG + LOG


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_what_decodes_to_far_more_than_any_log_is_refused_before_the_largest_log_is_reached(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "FREE", 1 << 20)
    with pytest.raises(
        ParseError, match=r"^bomb: decodes to more than [40]+ times its .* if it is one, unpack it first"
    ):
        unpack(pack(b" " * (64 << 20)), "bomb")
    history = b"".join(b"%d" % n * 40 + LINES[:2000] for n in range(1000))
    assert unpack(pack(history), "log") == history, "a log that repeats its history is none"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused_before_it_fills_the_memory(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ParseError, match="decodes to more than"):
        unpack(pack(b"\0" * (4 << 20)), "bomb", limit=1 << 20)


def test_standard_input_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(LOG))))
    assert load(Source("stdin", None)) == LOG


def test_a_file_that_vanished_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"/gone\.json: cannot be read: No such file or directory"):
        load(Source("gone.json", tmp_path / "gone.json"))
