"""T03: no character of a transcript steers the terminal it is shown on, or hides in it."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.cli.root import root
from trajcredit.cli.terminal import line, paragraph
from trajcredit.visible import visible

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
PAYLOADS = [
    pytest.param("\x1b[2J\x1b[1;1H", r"\x1b[2J\x1b[1;1H", id="clear the screen"),
    pytest.param("\x1b]0;pwned\x07", r"\x1b]0;pwned\x07", id="set the window title"),
    pytest.param(
        "\x1b]8;;http://x\x1b\\go\x1b]8;;\x1b\\", r"\x1b]8;;http://x\x1b\go\x1b]8;;\x1b" + "\\", id="a hyperlink"
    ),
    pytest.param("\x1b]52;c;cm0gLXJm\x07", r"\x1b]52;c;cm0gLXJm\x07", id="write the clipboard"),
    pytest.param("\x1bP+q544e\x1b\\", "\\x1bP+q544e\\x1b\\", id="a device control string"),
    pytest.param("\x9b31m", r"\x9b31m", id="the one-byte C1 introducer"),
    pytest.param("safe\rEVIL", r"safe\x0dEVIL", id="a carriage return that overwrites the line"),
    pytest.param("abc\x08\x08\x08xyz", r"abc\x08\x08\x08xyz", id="backspaces"),
    pytest.param("bell\x07null\x00del\x7f", r"bell\x07null\x00del\x7f", id="bell, null, delete"),
    pytest.param("user\u202etxt.exe", r"user\u202etxt.exe", id="right-to-left override"),
    pytest.param(BIDI, "".join(f"\\u{ord(c):04x}" for c in BIDI), id="every bidi control"),
    pytest.param("a\u200bb\ufeffc", r"a\u200bb\ufeffc", id="zero width"),
    pytest.param("x\U000e0041", r"x\U000e0041", id="tag characters that spell hidden text"),
    pytest.param("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d", id="line breaks of other worlds"),
    pytest.param("half \ud800 pair", r"half \ud800 pair", id="a lone surrogate"),
]


@pytest.mark.parametrize(("text", "shown"), PAYLOADS)
def test_what_steers_or_hides_is_shown_as_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["San José 東京 مرحبا", "👩\u200d🚀", "نمی\u200cخواهم", "a 'quoted' [bracket] \\x1b"])
def test_ordinary_text_of_any_script_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_nothing_that_could_steer_is_left_in_any_text(text: str) -> None:
    left = {unicodedata.category(c) for c in visible(text) if c not in "\u200c\u200d"}
    assert not left & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert "\n" not in line(text)
    assert set(paragraph(text, "  ")) & {chr(c) for c in range(32)} <= {"\n", "\t"}


def test_one_line_is_cut_to_its_width() -> None:
    assert line("a b\n  c", 3) == "a …"
    assert line("abc", 3) == "abc"
    assert paragraph("a\nb", "  ") == "  a\n  b"


TEXT = "".join(str(param.values[0]) for param in PAYLOADS).replace("\ud800", "").replace("\x00", "")
"""Every payload, but for what no argument of a command line can hold."""


def hostile_log(folder: Path) -> Path:
    """Every payload as message, tool name, argument, result and id."""
    text = TEXT
    call = {
        "id": f"c{text}",
        "type": "function",
        "function": {"name": f"t{text}", "arguments": json.dumps({text: text})},
    }
    messages = [
        {"role": "system", "content": text},
        {"role": "user", "content": f"please {text}"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{text}", "content": text},
        {"role": "assistant", "content": f"done {text}"},
    ]
    rows = [{"id": f"{n}{text}", "group": f"g{text}", "reward": n, "messages": messages} for n in (0, 1)]
    file = folder / "hostile.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["show"], id="show"),
        pytest.param(["blame"], id="blame"),
        pytest.param(["blame", "-a", "grpo"], id="blame without a graph"),
        pytest.param(["show", "--json"], id="canonical JSON"),
        pytest.param(["blame", "--json"], id="blame as JSON"),
        pytest.param(["graph"], id="edge rows"),
        pytest.param(["graph", "--to", "json"], id="graphs as JSON"),
        pytest.param(["graph", "--to", "dot"], id="dot"),
        pytest.param(["graph", "--to", "mermaid", "--trajectory", f"0{TEXT}"], id="mermaid"),
        pytest.param(["graph", "--to", "graphml", "--trajectory", f"0{TEXT}"], id="graphml"),
        pytest.param(["score"], id="credit rows"),
        pytest.param(["score", "-a", "gae"], id="an error"),
        pytest.param(["show", "--trajectory", TEXT], id="an error that quotes what was asked"),
    ],
)
def test_no_command_lets_an_escape_through(tmp_path: Path, command: list[str]) -> None:
    result = CliRunner().invoke(root, [*command, str(hostile_log(tmp_path))])
    assert result.exit_code == (2 if command[-1] in ("gae", TEXT) else 0), result.output
    assert "2J" in result.stdout + result.stderr, "what the log holds is shown"
    for shown in (result.stdout_bytes.decode(), result.stderr_bytes.decode()):
        assert visible(shown, keep="\n\t") == shown


KEPT = [
    pytest.param(["ingest", "LOG"], 0, id="what was kept before"),
    pytest.param(["ingest", "LOG", "--json"], 0, id="the same as JSON"),
    pytest.param(["ingest", "OTHER"], 1, id="a conflict"),
    pytest.param(["show", f"0{TEXT}"], 0, id="show"),
    pytest.param(["blame", f"0{TEXT}"], 0, id="blame"),
    pytest.param(["show", f"9{TEXT}"], 2, id="an id that is not there"),
    pytest.param(["run", "grpo"], 0, id="a run and its notes"),
    pytest.param(["run", f"{TEXT}"], 2, id="an attributor that is none"),
    pytest.param(["run", "dag", "--dataset", TEXT], 2, id="a data set that is not there"),
    pytest.param(["export", "--run", "dag"], 0, id="credit rows"),
    pytest.param(["export", "--run", TEXT], 2, id="a run that is not there"),
    pytest.param(["reward", f"0{TEXT}", "1", "--name", TEXT], 0, id="a reward"),
    pytest.param(["reward", f"9{TEXT}", "1"], 2, id="a reward of what is not there"),
]


@pytest.mark.parametrize(("command", "code"), KEPT)
def test_no_command_over_the_database_lets_an_escape_through(
    tmp_path: Path, command: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = hostile_log(tmp_path)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / log.name
    other.write_text(log.read_text().replace("please", "pray"))
    for first in (["ingest", str(log)], ["run", "dag"]):
        assert CliRunner().invoke(root, first).exit_code == 0
    named = [{"LOG": str(log), "OTHER": str(other)}.get(part, part) for part in command]
    result = CliRunner().invoke(root, named)
    assert result.exit_code == code, result.output
    for shown in (result.stdout_bytes.decode(), result.stderr_bytes.decode()):
        assert visible(shown, keep="\n\t") == shown


@pytest.mark.parametrize("command", [["show", "--json"], ["blame", "--json"], ["graph"], ["score"]], ids=" ".join)
def test_json_on_standard_output_is_what_the_file_holds_once_it_is_read(tmp_path: Path, command: list[str]) -> None:
    log = hostile_log(tmp_path)
    rows = [json.loads(row) for row in CliRunner().invoke(root, [*command, str(log)]).stdout.split("\n") if row]
    names = {row.get("trajectory_id") or row.get("id") or row["blamed"][0]["trajectory_id"] for row in rows}
    assert names <= {f"0{TEXT}", f"1{TEXT}"}
    if command[0] in ("graph", "score"):
        assert CliRunner().invoke(root, [*command, str(log), "-o", str(tmp_path / "out.jsonl")]).exit_code == 0
        assert [json.loads(row) for row in (tmp_path / "out.jsonl").read_text().split("\n") if row] == rows


def test_show_of_a_hostile_transcript_is_this_text(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    messages = [
        {"role": "user", "content": "hi\x1b[31m red\nsecond line\u202e"},
        {"role": "assistant", "content": "\x1b]0;title\x07ok"},
    ]
    log.write_text(json.dumps({"id": "t\x1b[0m", "group": "g", "reward": 1, "messages": messages}))
    shown = CliRunner().invoke(root, ["show", str(log)]).output
    assert r"trajectory t\x1b[0m: 2 spans, 1 turn" in shown
    assert "\n[0] turn -1 user\n    hi\\x1b[31m red\n    second line\\u202e\n" in shown
    assert "\n[1] turn 0 assistant\n    \\x1b]0;title\\x07ok\n" in shown
