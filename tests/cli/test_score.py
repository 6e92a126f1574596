"""`trajcredit score`: rows out, errors named, the right exit code."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root
from trajcredit.service.demo import bundled

SCORES = str(bundled("scores_0101.jsonl"))
FLIGHTS = str(bundled("wrong_flight.jsonl"))


def score(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(root, ["score", *arguments], input=stdin)


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_default_attributor_is_dag() -> None:
    assert {row["attributor"] for row in rows(score(FLIGHTS))} == {"dag"}


def test_attributors_come_in_the_order_asked() -> None:
    got = rows(score(SCORES, "-a", "rloo", "-a", "grpo"))
    assert [row["attributor"] for row in got] == ["rloo"] * 8 + ["grpo"] * 8
    assert [row["credit"] for row in got if row["is_action"]][4:] == [-0.5, 0.5, -0.5, 0.5]


def test_parameters_and_lists_are_taken_from_the_text() -> None:
    got = rows(score(FLIGHTS, "-a", "dag:off_path=0.5,kinds=call+value"))
    assert next(row for row in got if row["name"] == "get_weather" and row["is_action"])["credit"] == -0.25


def test_a_parquet_file_holds_what_the_json_lines_say(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    result = score(FLIGHTS, "-a", "grpo", "-a", "dag", "-o", str(out))
    assert result.exit_code == 0
    assert "80 rows of 4 trajectories in 1 group" in result.stderr
    assert pyarrow.parquet.read_table(out).to_pylist() == rows(score(FLIGHTS, "-a", "grpo", "-a", "dag"))


def test_a_json_lines_file_holds_what_standard_output_would(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    assert score(SCORES, "-o", str(out)).stdout == ""
    assert out.read_text() == score(SCORES).stdout


def test_standard_input_is_read_plain_and_compressed() -> None:
    log = Path(SCORES).read_bytes()
    plain, packed = score("-", stdin=log), score("-", stdin=gzip.compress(log))
    assert [row["credit"] for row in rows(plain)] == [row["credit"] for row in rows(score(SCORES))]
    assert plain.stdout == packed.stdout


def test_a_folder_with_a_bad_file_does_the_rest_and_names_the_bad_one(tmp_path: Path) -> None:
    shutil.copy(SCORES, tmp_path / "good.jsonl")
    (tmp_path / "bad.jsonl").write_text("{broken")
    result = score(str(tmp_path), "-a", "grpo")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 8
    assert "bad.jsonl" in result.stderr


def test_files_of_a_folder_that_are_no_logs_are_notes_and_no_failure(tmp_path: Path) -> None:
    shutil.copy(SCORES, tmp_path / "good.jsonl")
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    assert score(str(tmp_path), "-o", str(tmp_path / "rows.jsonl")).exit_code == 0
    again = score(str(tmp_path), "-o", str(tmp_path / "rows.jsonl"))
    assert again.exit_code == 0, "our own rows may be written again"
    assert f"note: {tmp_path / 'notes.txt'}: no log" in again.stderr
    assert f"note: {tmp_path / 'rows.jsonl'}: no log" in again.stderr
    assert "error" not in again.stderr
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 8


def test_of_many_files_that_are_no_logs_some_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    shutil.copy(SCORES, tmp_path / "good.jsonl")
    for n in range(13):
        (tmp_path / f"{n:02}.txt").write_text(f"page {n}\n")
    told = score(str(tmp_path)).stderr
    assert told.count(": no log") == 10
    assert "note: 3 files more passed over\n" in told


def test_a_folder_of_no_logs_has_nothing_readable(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember the milk\n")
    result = score(str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.endswith(f"error: nothing readable in {tmp_path}\n")


@pytest.mark.parametrize("command", ["score", "graph"])
def test_a_log_is_never_overwritten_and_not_even_read(tmp_path: Path, command: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("{broken\n")
    for paths in ([str(log)], [str(tmp_path)]):
        result = CliRunner().invoke(root, [command, *paths, "-o", str(log)])
        assert result.exit_code == 2
        assert result.stderr == f"error: cannot write {log}: it is one of the logs to read\n"
    assert log.read_text() == "{broken\n"


def test_a_bad_line_is_named_with_its_number_and_the_others_are_scored(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(Path(SCORES).read_text() + "{broken\n")
    result = score(str(log))
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 8
    assert "log.jsonl: line 5: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param([], "Missing argument 'PATH...'", id="no path"),
        pytest.param(["nowhere.json"], "error: nothing readable in nowhere.json", id="no such file"),
        pytest.param([__file__], "error: nothing readable", id="a file that is no log"),
        pytest.param(
            [SCORES, "-a", "gpro"],
            "error: no attributor named 'gpro'; known: belief, broadcast, clues, dag",
            id="no such attributor",
        ),
        pytest.param([SCORES, "-a", "dag:gama=1"], "no parameter 'gama'; it has: base, gamma", id="no such parameter"),
        pytest.param(
            [SCORES, "-a", "dag:gamma=2"], "gamma=2.0 is not a number in [0, 1]", id="a parameter out of range"
        ),
        pytest.param([SCORES, "-a", "gae"], "error: gae needs a critic's values", id="a column nobody filled"),
        pytest.param([SCORES, "-o", "a.csv"], "known endings: .jsonl, .parquet", id="an unknown ending"),
        pytest.param(
            [SCORES, "-o", "no/where.jsonl"], "error: cannot write no/where.jsonl", id="a folder that is not there"
        ),
        pytest.param([SCORES, "--format", "chatml"], "no format named 'chatml'; known: ", id="an unknown format"),
        pytest.param([SCORES, "--reward", "mum"], "no reward source 'mum'; known: verifier", id="an unknown source"),
        pytest.param([SCORES, "--group-by", "colour"], "cannot group by colour; known: ", id="an unknown group key"),
        pytest.param(
            [SCORES, "--group-by", "task"], "error: cannot group by task: no trajectory has one", id="nobody has it"
        ),
        pytest.param([SCORES, "--writes", "a", "--reads", "a"], "tool 'a' is listed under", id="a tool of both kinds"),
        pytest.param([SCORES, "--nonsense"], "No such option", id="an unknown flag"),
    ],
)
def test_bad_usage_ends_with_two_and_one_line_that_says_what_to_do(arguments: list[str], complaint: str) -> None:
    result = score(*arguments)
    assert result.exit_code == 2, result.output
    assert complaint in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_what_was_guessed_is_told_once_with_a_count(tmp_path: Path) -> None:
    same = [
        {"id": f"r{i}", "group": f"g{i // 2}", "reward": 1, "messages": [{"role": "assistant", "content": "a"}]}
        for i in range(8)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in same))
    told = score(str(log), "-a", "grpo").stderr
    assert "note: grpo: 4 groups: " in told
    assert "(zero-variance), e.g. group g0" in told


def test_group_by_puts_rollouts_together(tmp_path: Path) -> None:
    runs = [
        {
            "id": f"r{i}",
            "task_id": "t",
            "group": f"g{i}",
            "reward": i,
            "messages": [{"role": "assistant", "content": "a"}],
        }
        for i in (0, 1)
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in runs))
    assert [row["credit"] for row in rows(score(str(log), "-a", "grpo"))] == [0, 0]
    assert [row["credit"] for row in rows(score(str(log), "-a", "grpo", "--group-by", "task"))] == [-0.5, 0.5]


def test_flags_say_which_tools_change_state() -> None:
    effects = (FLIGHTS, "-a", "dag:sinks=effects")
    assert any(row["credit"] for row in rows(score(*effects)))
    assert not any(row["credit"] for row in rows(score(*effects, "--reads", "select_itinerary", "--reads", "pay")))
    told = rows(score(*effects, "--reads", "select_itinerary", "--reads", "pay", "--writes", "get_weather"))
    assert {row["name"] for row in told if row["credit"]} == {"get_weather"}


def test_settings_beside_the_log_are_used_and_flags_win(tmp_path: Path) -> None:
    shutil.copy(SCORES, tmp_path / "log.jsonl")
    (tmp_path / "trajcredit.toml").write_text('project = "primes"\n')
    assert {row["project"] for row in rows(score(str(tmp_path)))} == {"primes"}
    assert {row["project"] for row in rows(score(str(tmp_path), "--project", "numbers"))} == {"numbers"}


def test_a_wrong_settings_file_is_named(tmp_path: Path) -> None:
    shutil.copy(SCORES, tmp_path / "log.jsonl")
    (tmp_path / "trajcredit.toml").write_text("colour = 1\n")
    result = score(str(tmp_path))
    assert result.exit_code == 2
    assert "trajcredit.toml: unknown key 'colour'" in result.stderr
