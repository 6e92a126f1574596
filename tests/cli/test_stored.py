"""The commands over the database: what they print, how they end, and that every mistake is one line."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

from tests.service.pools import pool
from tests.service.uploads import log, rollout
from trajcredit.cli.root import root
from trajcredit.service.demo import bundled

FLIGHTS = str(bundled("wrong_flight.jsonl"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the database and what is written go."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJCREDIT_DB", raising=False)
    return tmp_path


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(root, arguments, input=stdin)


def good(*arguments: str, stdin: str | bytes | None = None) -> Result:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def written(name: str, *some: dict[str, Any] | str) -> str:
    Path(name).write_bytes(log(*some).data)
    return name


# ---------------------------------------------------------------- ingest


def test_ingest_prints_a_line_a_file_and_a_summary(folder: Path) -> None:
    written("a.jsonl", rollout("a"), rollout("b"))
    Path("b.jsonl.gz").write_bytes(gzip.compress(log(rollout("c"), rollout("d")).data))
    said = good("ingest", "a.jsonl", "b.jsonl.gz").stdout.splitlines()
    assert said == [
        "a.jsonl: 2 created",
        "b.jsonl.gz: 2 created",
        f"4 created in project default of {folder / 'trajcredit.db'}",
    ]
    assert good("ingest", "a.jsonl").stdout.splitlines()[0] == "a.jsonl: 0 created, 2 duplicate"


def test_what_fails_is_named_line_by_line_and_the_rest_is_kept() -> None:
    good("ingest", written("old.jsonl", rollout("a"), rollout("z")))
    result = run("ingest", written("new.jsonl", rollout("a", text="otherwise"), "{broken", rollout("b")), "gone.json")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "new.jsonl: 1 created, 1 rejected, 1 conflict"
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert errors[0].startswith("error: new.jsonl:1: trajectory 'a': another trajectory has this id, and its content")
    assert errors[0].endswith("(--replace puts this one in its place)")
    assert errors[1].startswith("error: new.jsonl:2: ")
    assert errors[2] == "error: gone.json: no such file or folder"


def test_replace_takes_the_place_of_what_was_there() -> None:
    good("ingest", written("log.jsonl", rollout("a"), rollout("b")))
    said = good("ingest", written("log.jsonl", rollout("a", text="otherwise"), rollout("b")), "--replace").stdout
    assert said.splitlines()[0] == "log.jsonl: 0 created, 1 duplicate, 1 replaced"
    assert "otherwise: QK-9932" in good("show", "a").stdout


def test_ingest_as_json_is_one_object_a_trajectory() -> None:
    result = run("ingest", written("a.jsonl", rollout("a"), "{broken"), "--json")
    assert result.exit_code == 1
    assert [(row["status"], row["external_id"], row["file"], row["line"]) for row in rows(result.stdout)] == [
        ("created", "a", "a.jsonl", 1),
        ("rejected", None, "a.jsonl", 2),
    ]
    assert "1 created, 1 rejected in project default of " in result.stderr


def test_standard_input_is_kept_too() -> None:
    assert good("ingest", "-", stdin=log(rollout("a"), rollout("b")).data).stdout.startswith("stdin: 2 created\n")


def test_a_folder_is_kept_without_what_is_no_log_and_without_the_database() -> None:
    Path("notes.txt").write_text("remember the milk")
    written("a.jsonl", rollout("a"), rollout("b"))
    result = good("ingest", ".")
    assert "2 created in project" in result.stdout
    assert "note: notes.txt: no log: " in result.stderr
    assert "trajcredit.db" not in result.stderr


def test_the_projects_settings_apply() -> None:
    Path("logs").mkdir()
    Path("logs/trajcredit.toml").write_text(
        'project = "flights"\nreward = "human"\n[tools]\nwrites = ["get_weather"]\n'
    )
    shutil.copy(FLIGHTS, "logs/runs.jsonl")
    assert "4 created in project flights of " in good("ingest", "logs").stdout
    shutil.copy("logs/trajcredit.toml", "trajcredit.toml")
    told = json.loads(good("run", "dag:sinks=effects", "--json").stdout)
    assert told["reward_source"] == "human"
    actions = [row for row in rows(good("export", "--run", "dag").stdout) if row["is_action"]]
    assert any(row["credit"] for row in actions if row["name"] == "get_weather"), "it was said to change something"
    assert run("run", "dag", "--project", "default").exit_code == 2


# ---------------------------------------------------------------- run, export


def test_run_and_export_give_the_rows_of_score() -> None:
    good("ingest", FLIGHTS)
    said = good("run", "dag:gamma=0.9")
    assert said.stdout.startswith("run ")
    assert said.stdout.endswith(" (#1) dag:gamma=0.9: done, 4 of 4 trajectories\n")
    name = said.stdout.split()[1]
    exported = good("export", "--run", name).stdout
    assert exported.replace(f'"{name}"', "null") == good("score", FLIGHTS, "-a", "dag:gamma=0.9").stdout
    assert good("export", "--run", "dag", "-o", "rows.jsonl").stderr == "40 rows: rows.jsonl\n"
    assert good("export", "--run", "dag:gamma=0.9", "-o", "rows.parquet").exit_code == 0
    assert pyarrow.parquet.read_table("rows.parquet").to_pylist() == rows(exported)
    assert Path("rows.jsonl").read_text() == exported


def test_run_and_export_give_the_rows_of_score_for_rewards_of_one_name() -> None:
    rewards = [{"value": n / 4, "source": "human", "name": "tone"} for n in range(4)]
    spans = [{"kind": "user", "turn": -1, "text": "?"}, {"kind": "assistant", "turn": 0, "text": "!"}]
    head = {"schema": "trajcredit.trajectory/1", "group": "g", "spans": spans}
    some = [{**head, "id": f"t{n}", "rewards": [{"value": 1.0}, one]} for n, one in enumerate(rewards)]
    good("ingest", written("log.jsonl", *some))
    made = json.loads(good("run", "grpo", "--reward", "tone", "--json").stdout)
    assert (made["reward_source"], made["reward_name"]) == ("human", "tone")
    exported = good("export", "--run", made["id"]).stdout
    assert exported.replace(f'"{made["id"]}"', "null") == (
        good("score", "log.jsonl", "-a", "grpo", "--reward", "tone").stdout
    )
    assert [row["outcome"] for row in rows(exported) if row["is_action"]] == [0.0, 0.25, 0.5, 0.75]
    Path("trajcredit.toml").write_text('reward = "tone"\n')
    assert json.loads(good("run", "grpo", "--json").stdout)["reward_name"] == "tone"
    assert "no reward of that name, but tone" in run("run", "grpo", "--reward", "tune").stderr


def test_run_and_export_give_the_rows_of_score_where_a_critic_is_asked() -> None:
    good("ingest", written("log.jsonl", *pool()))
    for spec in ("doubly_robust", "gae:critic=compatible"):
        said = good("run", spec)
        assert re.fullmatch(
            rf"run \S+ \(#\d\) {spec}: done, 40 of 40 trajectories; critic compatible, fingerprint \w{{12}}\n",
            said.stdout,
        )
        assert "critic compatible read 40 scored of 40 trajectories" in said.stderr
        name = said.stdout.split()[1]
        exported = good("export", "--run", name).stdout
        assert exported.replace(f'"{name}"', "null") == good("score", "log.jsonl", "-a", spec).stdout
        for options in (["-n", "2"], ["--json"]):
            of_file = good("blame", "log.jsonl", "--trajectory", "g1r1", "-a", spec, *options).stdout
            assert good("blame", "g1r1", "-a", spec, *options).stdout == of_file


def test_run_as_json_is_the_run() -> None:
    good("ingest", FLIGHTS)
    found = json.loads(good("run", "grpo", "--json", "--reward", "human", "--dataset", "wrong_flight.jsonl").stdout)
    assert (found["attributor"], found["number"], found["state"], found["done"]) == ("grpo", 1, "done", 4)
    assert (found["reward_source"], found["dataset"]) == ("human", "wrong_flight.jsonl")


def test_a_run_that_fails_says_why() -> None:
    good("ingest", FLIGHTS)
    result = run("run", "gae")
    assert result.exit_code == 2
    assert "gae needs a critic's values" in result.stderr.splitlines()[-1]


def test_notes_of_a_run_are_told_once_a_kind() -> None:
    good("ingest", written("a.jsonl", *(rollout(f"t{n}") for n in range(9))))
    told = good("run", "grpo").stderr
    assert "note: run: 9 trajectories: one scored rollout" in told
    assert told.count("unknown-end") == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param(["run", "gpro"], "no attributor named 'gpro'; known: ", id="an unknown attributor"),
        pytest.param(["run", "dag:gamma=2"], "gamma=2.0 is not a number in [0, 1]", id="a parameter out of range"),
        pytest.param(["run", "gae:critic=me"], "no critic named 'me'; known: best, compatible", id="an unknown critic"),
        pytest.param(
            ["blame", "flight-1", "-a", "doubly_robust"], "`trajcredit run doubly_robust`", id="no fit to read"
        ),
        pytest.param(["run", "dag", "--reward", "mum"], "no reward source 'mum'; known: ", id="an unknown source"),
        pytest.param(["run", "dag", "--group-by", "x"], "cannot group by x; known: ", id="an unknown group"),
        pytest.param(["run", "dag", "--dataset", "x"], "no trajectories of data set 'x'", id="an unknown data set"),
        pytest.param(["run", "dag", "--project", "x"], "project 'x' has no trajectories", id="an empty project"),
        pytest.param(["export", "--run", "dag"], "no run 'dag' in project 'default'", id="no such run"),
        pytest.param(["export", "--run", "x", "--to", "csv"], "no exporter named 'csv'", id="an unknown kind"),
        pytest.param(["export", "--run", "x", "-o", "a.csv"], "known endings: .jsonl, .parquet", id="an ending"),
        pytest.param(["export", "--run", "x", "--to", "parquet"], "name a file with -o", id="a table on stdout"),
        pytest.param(["export"], "Missing option '--run'", id="no run named"),
        pytest.param(["ingest", "nowhere.json"], "nothing readable in nowhere.json", id="nothing to keep"),
        pytest.param(["ingest", FLIGHTS, "--format", "x"], "no format named 'x'", id="an unknown format"),
        pytest.param(["ingest", FLIGHTS, "--project", "x" * 101], "at most 100 characters", id="a long project"),
        pytest.param(["ingest"], "Missing argument 'PATH...'", id="no path"),
        pytest.param(["reward", "flight-1"], "flight-1: cannot be read: No such file", id="a reward without a value"),
        pytest.param(["reward", "flight-1", "good"], "expected a number as reward, found 'good'", id="a word"),
        pytest.param(["reward", "flight-1", "nan"], "expected a finite number as reward", id="NaN"),
        pytest.param(["reward", "flight-9", "1"], "no trajectory 'flight-9'", id="an unknown trajectory"),
        pytest.param(["reward", "a", "1", "2"], "expected FILE, or ID and VALUE; found 3 arguments", id="too much"),
        pytest.param(["reward", "-", "--span", "1"], "belong to ID VALUE", id="options that a file has itself"),
        pytest.param(["show", "flight-9"], "there is no file 'flight-9', and no trajectory 'flight-9'", id="show"),
        pytest.param(["blame", "flight-9"], "there is no file 'flight-9', and no trajectory", id="blame"),
        pytest.param(["show", "flight-1", "--trajectory", "a"], "--trajectory picks from", id="show one of one"),
        pytest.param(["db", "drop"], "'drop' is not one of", id="an unknown action"),
        pytest.param(["run", "dag", "--db", "mysql://a/b"], "mysql: no such database here", id="another database"),
        pytest.param(["db", "check", "--db", "no.db"], "there is no database at no.db", id="no database"),
        pytest.param(["ingest", FLIGHTS, "--db", "no/where.db"], "there is no folder", id="no folder"),
        pytest.param(["run", "dag", "--db", "."], "is a folder; a database is a file", id="a folder as database"),
    ],
)
def test_bad_usage_ends_in_one_line_that_says_what_to_do(arguments: list[str], complaint: str) -> None:
    good("ingest", FLIGHTS)
    result = run(*arguments)
    assert result.exit_code == (3 if "folder" in complaint else 2), result.output
    [line] = [line for line in result.stderr.splitlines() if line.lower().startswith("error: ")][-1:]
    assert complaint in line
    assert result.stdout == ""
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", [["run", "dag"], ["export", "--run", "x"], ["reward", "a", "1"], ["show", "a"]])
def test_only_what_keeps_something_makes_a_database(command: list[str]) -> None:
    result = run(*command)
    assert result.exit_code == 2
    assert "there is no database at trajcredit.db: `trajcredit ingest` makes one, --db names another" in result.stderr
    assert list(Path().iterdir()) == []


def test_the_database_is_named_by_option_environment_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    good("ingest", FLIGHTS, "--db", "sqlite:///one.db")
    monkeypatch.setenv("TRAJCREDIT_DB", "two.db")
    good("ingest", FLIGHTS)
    assert sorted(path.name for path in Path().glob("*.db")) == ["one.db", "two.db"]
    assert "project default of" in good("ingest", FLIGHTS, "--db", "one.db").stdout


def test_a_file_that_is_no_database_is_named_and_left_alone() -> None:
    Path("notes.db").write_text("remember the milk\n" * 100)
    for command in (["ingest", FLIGHTS], ["run", "dag"], ["db", "check"]):
        result = run(*command, "--db", "notes.db")
        assert result.exit_code == 3
        assert "notes.db: file is not a database" in result.stderr.splitlines()[-1]
    assert Path("notes.db").read_text() == "remember the milk\n" * 100


def test_no_message_shows_the_password() -> None:
    for url in (
        "postgresql://me:s3cret@127.0.0.1:1/x",
        "postgresql://me:s3cret@127.0.0.1:port/x",
        "pg://me:s3cret@h/x",
    ):
        result = run("ingest", FLIGHTS, "--db", url)
        assert result.exit_code in (2, 3)
        assert "s3cret" not in result.output
        assert r"\x0a" not in result.stderr, "what the driver says on several lines is one"
        assert len(result.stderr.splitlines()) == 1


# ---------------------------------------------------------------- reward


def test_a_late_reward_changes_the_outcome_and_makes_runs_stale() -> None:
    good("ingest", FLIGHTS)
    good("run", "grpo")
    said = good("reward", "flight-1", "1", "--at", "2027-01-01T00:00:00Z").stderr
    assert said == "1 appended, 0 known already, 0 rejected; 1 run stale by it\n"
    assert "0.0 from human" in good("show", "flight-1").stdout
    assert "reward 1.0 from human at 2027-01-01T00:00:00Z" in good("show", "flight-1").stdout
    assert json.loads(good("run", "grpo", "--json").stdout)["stale"] is False
    credit = {
        row["trajectory_id"]: row["credit"] for row in rows(good("export", "--run", "grpo").stdout) if row["credit"]
    }
    assert credit == {"flight-1": 0.25, "flight-2": 0.25, "flight-3": -0.75, "flight-4": 0.25}


def test_a_negative_reward_is_no_option() -> None:
    good("ingest", FLIGHTS)
    assert good("reward", "ext:flight-1", "-0.5", "--source", "judge", "--span", "2").stderr.startswith("1 appended")


def test_rewards_of_a_file_go_by_the_id_of_the_log_alone() -> None:
    good("ingest", FLIGHTS)
    Path("late.ndjson").write_text('{"trajectory": "flight-1", "value": 1}\n{"trajectory": "flight-9", "value": 1}\n')
    result = run("reward", "late.ndjson")
    assert (result.exit_code, result.stderr.splitlines()) == (
        1,
        [
            "error: late.ndjson:2: no trajectory 'flight-9'",
            "1 appended, 0 known already, 1 rejected; 0 runs stale by it",
        ],
    )
    assert "reward 1.0 from verifier" in good("show", "flight-1").stdout


def test_rewards_of_a_file_are_answered_line_by_line() -> None:
    good("ingest", FLIGHTS)
    given = [{"trajectory": "ext:flight-1", "value": 1}, {"trajectory": "ext:flight-9", "value": 1}]
    Path("late.ndjson").write_text("".join(json.dumps(row) + "\n" for row in given))
    result = run("reward", "late.ndjson")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error: late.ndjson:2: no trajectory 'ext:flight-9'",
        "1 appended, 0 known already, 1 rejected; 0 runs stale by it",
    ]
    again = run("reward", "-", "--json", stdin='{"trajectory": "ext:flight-1", "value": 1}\n')
    assert (again.exit_code, json.loads(again.stdout)["items"][0]["status"]) == (0, "duplicate")
    assert run("reward", "-", stdin="{}\n").exit_code == 2


# ---------------------------------------------------------------- show, blame


def test_show_and_blame_read_a_stored_trajectory_by_any_of_its_names() -> None:
    made = rows(good("ingest", FLIGHTS, "--json").stdout)[0]
    of_file = (FLIGHTS, "--trajectory", "flight-1")
    shown = good("show", *of_file).stdout
    for name in ("flight-1", "ext:flight-1", made["id"]):
        assert good("show", name).stdout == shown
    assert (
        good("show", "flight-1", "--json").stdout == good("show", FLIGHTS, "--trajectory", "flight-1", "--json").stdout
    )
    for options in ([], ["-a", "grpo"], ["-a", "dag:gamma=0.5", "-n", "2"], ["--json"]):
        assert good("blame", made["id"], *options).stdout == good("blame", *of_file, *options).stdout


def test_a_file_of_that_name_comes_first(folder: Path) -> None:
    good("ingest", FLIGHTS)
    written("flight-1", rollout("of the file"), rollout("second"))
    assert "trajectory of the file: " in good("show", "flight-1").stdout


def test_another_project_is_looked_at_by_name() -> None:
    good("ingest", FLIGHTS, "--project", "flights")
    assert run("show", "flight-1").exit_code == 2
    assert "trajectory flight-1: " in good("show", "flight-1", "--project", "flights").stdout


# ---------------------------------------------------------------- db


def test_a_sound_database_is_said_to_be(folder: Path) -> None:
    good("ingest", FLIGHTS)
    assert good("db", "check").stdout == "4 trajectories, 1 raw log, 0 credits: sound\n"
    assert good("db", "upgrade").stdout.startswith(f"{folder / 'trajcredit.db'} is at version ")


def test_what_is_wrong_with_a_database_is_listed() -> None:
    good("ingest", FLIGHTS)
    with sqlite3.connect("trajcredit.db") as conn:
        conn.execute("UPDATE trajectories SET outcome = 7 WHERE external_id = 'flight-1'")
    conn.close()
    result = run("db", "check")
    assert result.exit_code == 1
    assert result.stdout.endswith(": 1 problem\n")
    assert "outcome 7.0, and its rewards say 0.0" in result.stderr
