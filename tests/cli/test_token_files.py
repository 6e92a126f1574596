"""Token files on the command line: from a log and from a stored run alike, told what was counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.tokens.tokenizers import byte_level
from trajcredit.cli.root import root
from trajcredit.service.demo import bundled

FLIGHTS = str(bundled("wrong_flight.jsonl"))


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJCREDIT_DB", raising=False)
    byte_level(Path("bytes"))


def said(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(root, arguments)
    assert result.exit_code == code, result.output
    return result


def test_a_run_and_a_log_give_one_file_and_say_what_is_in_it() -> None:
    scored = said("score", FLIGHTS, "-a", "dag", "--to", "trl", "--tokenizer", "bytes", "-o", "a.jsonl")
    said("ingest", FLIGHTS)
    said("run", "dag")
    exported = said("export", "--run", "dag", "--to", "trl:tokenizer=bytes", "-o", "b.jsonl")
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    rows = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    assert len(rows) == 4
    for result in (scored, exported):
        assert "alignment: exact 0, re-tokenized" in result.stderr
        assert "failed 0" in result.stderr


def test_without_a_tokenizer_it_stops_and_writes_nothing() -> None:
    result = said("score", FLIGHTS, "-a", "dag", "--to", "verl", "-o", "a.parquet", code=2)
    assert "pass a tokenizer" in result.stderr
    assert not Path("a.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param(["--to", "trl", "-o", "a.parquet"], "writes .jsonl files", id="an ending of another kind"),
        pytest.param(["--to", "verl"], "cannot be written to standard output", id="a table on a terminal"),
        pytest.param(["--to", "trl:share=half"], "share='half'", id="an unknown share"),
        pytest.param(["--to", "trl:tokenizer=a", "--tokenizer", "b"], "tokenizer is given twice", id="two tokenizers"),
        pytest.param(["--to", "jsonl", "--tokenizer", "bytes"], "tokenizer", id="a tokenizer for spans"),
        pytest.param(["--to", "trl", "--tokenizer", "nowhere"], "nowhere", id="no such tokenizer"),
        pytest.param(["-a", "grpo", "--to", "trl", "--tokenizer", "bytes"], "one attributor", id="two attributors"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments: list[str], complaint: str) -> None:
    assert complaint in said("score", FLIGHTS, "-a", "dag", *arguments, code=2).stderr


def test_exporters_are_listed_with_their_parameters() -> None:
    listed = said("export", "--list").stdout
    assert listed.splitlines()[0].startswith("jsonl  ")
    assert "    whiten=none  (none | verl |" in listed
