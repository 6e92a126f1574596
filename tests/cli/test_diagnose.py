"""`trajcredit diagnose`: of files and of the database, as text, Markdown, HTML and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from tests.diagnostics.worlds import world
from trajcredit.cli.root import root
from trajcredit.model import encode


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(root, list(arguments))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    sick = [replace(t, policy_version=str(n % 2)) for n, t in enumerate(world("memory_mismatch", True, 5))]
    file = tmp_path_factory.mktemp("logs") / "sick.jsonl"
    file.write_bytes(b"\n".join(map(encode, sick)))
    return str(file)


def test_the_report_as_text(log: str) -> None:
    result = cli("diagnose", log, "--compare", "0", "1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "FOUND  Memory/state mismatch" in lines
    at = lines.index("FOUND  Memory/state mismatch")
    assert lines[at + 1].endswith("share of trajectories, found above 0.05")
    assert any(" charge_card succeeded again with the arguments of span " in line for line in lines[at : at + 7])
    assert "needs  KL mis-tune" in lines
    assert "policy version 1 against 0:" in lines
    assert "pass@k:" in lines
    assert "checklist:" in lines


@pytest.mark.parametrize(
    ("name", "arguments", "start"),
    [
        ("report.md", [], "# Diagnosis\n"),
        ("report.html", [], "<!doctype html>\n"),
        ("report.json", [], '{"modes":['),
        ("report.txt", ["--to", "md"], "# Diagnosis\n"),
        ("report", [], ""),
    ],
)
def test_the_form_is_asked_for_or_told_by_the_ending(
    name: str, arguments: list[str], start: str, log: str, tmp_path: Path
) -> None:
    out = tmp_path / name
    result = cli("diagnose", log, "-o", str(out), *arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "failure mode" in result.stderr
    assert out.read_text(encoding="utf-8").startswith(start)


def test_json_has_what_the_answer_over_http_has(log: str) -> None:
    from trajcredit.api.models import Diagnosis

    result = cli("diagnose", log, "--to", "json", "--reward", "verifier", "--pass-at", "0.7", "-a", "rloo")
    found = json.loads(result.stdout)
    Diagnosis.model_validate({**found, "notes": []})
    assert (found["over"]["attributor"], found["over"]["pass_at"]) == ("rloo", 0.7)


def test_what_is_stored_is_diagnosed_without_a_path(log: str, tmp_path: Path) -> None:
    db = str(tmp_path / "runs.db")
    assert cli("ingest", log, "--db", db).exit_code == 0
    result = cli("diagnose", "--db", db, "--to", "json")
    assert result.exit_code == 0, result.output
    plain = json.loads(cli("diagnose", log, "--to", "json").stdout)
    stored = json.loads(result.stdout)
    assert [one["says"] for one in stored["modes"]] == [one["says"] for one in plain["modes"]]
    other = json.loads(cli("diagnose", "--db", db, "--to", "json", "--dataset", "other").stdout)
    assert other["over"]["trajectories"] == 0


def test_rewards_beside_the_logs_are_held_against_those_in_them(log: str, tmp_path: Path) -> None:
    beside = tmp_path / "people.jsonl"
    ids = [json.loads(line)["id"] for line in Path(log).read_text(encoding="utf-8").splitlines()]
    beside.write_text("\n".join(json.dumps({"id": name, "reward": 1, "source": "human"}) for name in ids))
    found = json.loads(cli("diagnose", log, "--rewards", str(beside), "--to", "json").stdout)
    assert (found["over"]["proxy"], found["over"]["trusted"]) == ("verifier", "human")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--db", "no.db"], "there is no database"),
        (["{log}", "--dataset", "x"], "--dataset picks from the database"),
        (["--rewards", "r.json"], "--rewards goes with logs"),
        (["{log}", "--against", "taste"], "no reward source 'taste'"),
        (["{log}", "--compare", "0", "9"], "not two names of one kind"),
        (["{log}", "-o", "{log}"], "cannot write"),
    ],
)
def test_what_cannot_be_asked(
    arguments: list[str], message: str, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cli("diagnose", *(argument.format(log=log) for argument in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
