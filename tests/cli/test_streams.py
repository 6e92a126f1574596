"""Streams that are closed or full: never a traceback, the right exit code, and the target is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.cli.streams import escaped, json_escape, xml_escape
from trajcredit.service.demo import bundled
from trajcredit.visible import visible

FLIGHTS = str(bundled("wrong_flight.jsonl"))
FULL = "error: standard output: No space left on device\n"
CLOSED = "error: standard output: Bad file descriptor\n"

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command line as a shell runs it, `trajcredit` being ours and LOG a log."""
    text = command.replace("trajcredit", f"{sys.executable} -m trajcredit.cli").replace("LOG", FLIGHTS)
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=120, check=False, cwd=folder)
    for complaint in ("Traceback", "Exception ignored", "Errno"):
        assert complaint not in done.stderr
    return done


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        pytest.param("trajcredit --help > /dev/full", 2, FULL, id="the overview on a full disk"),
        pytest.param("trajcredit --version > /dev/full", 2, FULL, id="the version"),
        pytest.param("trajcredit score --help > /dev/full", 2, FULL, id="the help of a command"),
        pytest.param("trajcredit score LOG > /dev/full", 2, FULL, id="rows"),
        pytest.param("trajcredit graph LOG --to json > /dev/full", 2, FULL, id="graphs"),
        pytest.param("trajcredit show LOG > /dev/full", 2, FULL, id="transcripts"),
        pytest.param("trajcredit blame LOG > /dev/full", 2, FULL, id="blame"),
        pytest.param("trajcredit formats > /dev/full", 2, FULL, id="formats"),
        pytest.param("trajcredit demo > /dev/full", 2, FULL, id="the demo"),
        pytest.param("trajcredit --help >&-", 2, CLOSED, id="the overview on a closed output"),
        pytest.param("trajcredit score LOG >&-", 2, CLOSED, id="rows on a closed output"),
        pytest.param("trajcredit score LOG -o rows.jsonl >&-", 0, "40 rows", id="rows in a file need no output"),
        pytest.param("trajcredit score - <&-", 2, "error: stdin: cannot be read: Bad file", id="a closed input"),
        pytest.param("trajcredit score LOG <&-", 0, "note: ", id="a closed input that nobody reads"),
        pytest.param("trajcredit score LOG 2>&-", 0, "", id="nobody to tell: a closed error stream"),
        pytest.param("trajcredit score no.json 2>&-", 2, "", id="an error that nobody hears"),
        pytest.param("trajcredit scroe 2>&-", 2, "", id="bad usage that nobody hears"),
        pytest.param("trajcredit score LOG 2> /dev/full", 0, "", id="notes on a full disk"),
        pytest.param("trajcredit score no.json 2> /dev/full", 2, "", id="an error on a full disk"),
        pytest.param("trajcredit scroe 2> /dev/full", 2, "", id="bad usage on a full disk"),
        pytest.param("trajcredit score LOG <&- >&- 2>&-", 2, "", id="nothing is open"),
        pytest.param("trajcredit score LOG -o rows.jsonl <&- >&- 2>&-", 0, "", id="nothing is open, nothing is needed"),
        pytest.param(
            "trajcredit graph LOG -o /dev/full", 2, "error: cannot write /dev/full: No space left", id="a full file"
        ),
    ],
)
def test_every_stream_can_fail(tmp_path: Path, command: str, code: int, told: str) -> None:
    done = shell(command, tmp_path)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    if ".jsonl" in command:
        assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 40
    elif code == 0:
        assert len(done.stdout.splitlines()) == 40


@pytest.mark.parametrize(
    ("character", "in_json", "in_xml"),
    [
        pytest.param("\x9b", r"\u009b", "&#x9b;", id="C1"),
        pytest.param("\u202e", r"\u202e", "&#x202e;", id="bidi"),
        pytest.param("\U000e0041", r"\udb40\udc41", "&#xe0041;", id="a tag, above U+FFFF"),
        pytest.param("\x7f", r"\u007f", "&#x7f;", id="delete"),
    ],
)
def test_what_hides_is_written_as_its_number(character: str, in_json: str, in_xml: str) -> None:
    assert escaped(f'["{character}"]\n'.encode(), json_escape).decode() == f'["{in_json}"]\n'
    assert escaped(f"<a>{character}</a>".encode(), xml_escape).decode() == f"<a>{in_xml}</a>"


@given(st.text(), st.sampled_from("\u202e\u2066\x9b\x7f\U000e0041"))
def test_escaped_json_reads_back_as_it_was_and_shows_nothing_that_hides(text: str, hidden: str) -> None:
    whole = text.encode("utf-8", "replace").decode() + hidden
    written = json.dumps({whole: [whole]}, ensure_ascii=False).encode() + b"\n"
    shown = escaped(written, json_escape).decode()
    assert json.loads(shown) == {whole: [whole]}
    assert visible(shown[:-1]) == shown[:-1]


def test_ordinary_text_of_any_script_is_written_as_it_is() -> None:
    text = "San José 東京 مرحبا 👩\u200d🚀 a\u00a0b\n".encode()
    assert escaped(text, json_escape) == text
