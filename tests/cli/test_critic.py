"""`trajcredit critic`, and fitted critics wherever one may be named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import trajcredit as tc
from tests.build import batch_of
from tests.critics.worlds import desk, renamed, renumbered
from trajcredit import critics
from trajcredit.cli.root import root
from trajcredit.model import Trajectory, encode
from trajcredit.service.asking import configured, of_spec


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(root, list(map(str, arguments)))


def written(file: Path, runs: list[Trajectory]) -> Path:
    file.write_bytes(b"".join(encode(one) + b"\n" for one in runs))
    return file


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("critic") / "desk.jsonl", desk())


@pytest.fixture(scope="module")
def new(log: Path) -> Path:
    return written(log.with_name("new.jsonl"), renumbered(desk(groups=9, seed=1), "new"))


@pytest.fixture(scope="module")
def file(log: Path) -> Path:
    out = log.with_name("desk.critic")
    result = command("critic", "fit", log, "-o", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("critic compatible, fingerprint ")
    return out


def credits_of(result: Result) -> list[Any]:
    assert result.exit_code == 0, result.output
    return [json.loads(line)["credit"] for line in result.stdout.splitlines()]


def test_what_it_was_fitted_to_is_scored_as_by_the_kind(log: Path, file: Path) -> None:
    for spec in ("doubly_robust:w=0", "gae"):
        joint = "," if ":" in spec else ":"
        kept = command("score", log, "-a", f"{spec}{joint}critic={file}")
        assert credits_of(kept) == credits_of(command("score", log, "-a", f"{spec}{joint}critic=compatible"))
        assert "12 of them by models fitted without them (critic-kept)" in kept.stderr


def test_new_logs_are_scored_without_a_fit(new: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(critics.KINDS, "compatible", None)
    found = credits_of(command("score", new, "-a", f"doubly_robust:w=0,critic={file}"))
    wanted = critics.load(file).fill(tc.batch(tc.read(new))).advantage_forecast
    np.testing.assert_array_equal([c for c in found if c is not None], wanted[~np.isnan(wanted)])
    assert np.nanmin(wanted) < -0.3


def test_python_takes_the_file_too(new: Path, file: Path) -> None:
    batch = tc.batch(tc.read(new))
    credit = tc.attribute(batch, "doubly_robust", critic=str(file), w=0)
    wanted = tc.attribute(critics.load(file).fill(batch), "doubly_robust", w=0)
    np.testing.assert_array_equal(credit.credit, wanted.credit)
    with pytest.raises(tc.InputError, match=r"cannot read the fitted critic none\.critic: no such file"):
        tc.attribute(batch, "doubly_robust", critic="none.critic")


def test_logs_that_are_other_are_warned_of(log: Path, file: Path) -> None:
    other = written(log.with_name("other.jsonl"), renamed(renumbered(desk(groups=9, seed=1), "x"), {"note": "memo"}))
    result = command("score", other, "-a", f"doubly_robust:critic={file}")
    assert result.exit_code == 0
    assert "33.3% of the calls are of tools new to it" in result.stderr
    assert "(critic-drift)" in result.stderr


def test_show_says_what_was_learnt(file: Path) -> None:
    text = command("critic", "show", file).stdout
    assert "tools: book, look, note, pick\n" in text
    assert "critic compatible read 48 scored of 48 trajectories of 12 groups that share tools, " in text
    assert "11 models; outcomes rise by " in text
    found = json.loads(command("critic", "show", file, "--json").stdout)
    assert (found["schema"], found["kind"], found["current"]) == ("trajcredit.critic/1", "compatible", True)
    assert found["fingerprint"] == critics.fit(batch_of(*desk()), "compatible").fingerprint
    [pool] = found["pools"]
    assert (pool["groups"], pool["trajectories"], pool["models"]) == (12, 48, 11)
    assert pool["usual"]["outcome"] == pytest.approx(np.mean([one.rewards[0].value for one in desk()]))


def test_another_kind_and_logs_too_few(tmp_path: Path, log: Path) -> None:
    out = tmp_path / "ridge.critic"
    assert command("critic", "fit", log, "--kind", "ridge", "-o", out).stdout.startswith("critic ridge, ")
    few = written(tmp_path / "few.jsonl", desk(groups=2))
    text = command("critic", "fit", few, "-o", out).stdout
    assert "8 trajectories are of pools with fewer than 8 groups that have scored siblings" in text
    assert command("critic", "show", out).stdout == text, "a file that was there is written anew"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["critic", "fit", "LOG"], "say with -o FILE where to keep it", id="no file"),
        pytest.param(["critic", "fit", "LOG", "-o", "LOG"], "one of the logs to read", id="in the place of a log"),
        pytest.param(["critic", "fit", "LOG", "--kind", "x", "-o", "X"], "no critic named 'x'; known: ", id="kind"),
        pytest.param(["critic", "show", "LOG"], "is no fitted critic of this version: ", id="a log"),
        pytest.param(["critic", "show", "X"], "cannot read the fitted critic ", id="nothing"),
        pytest.param(
            ["critic", "show", "LOG", "-o", "X"], "the FILE of one fitted critic, and no options", id="options"
        ),
        pytest.param(["critic", "show", "LOG", "LOG"], "the FILE of one fitted critic", id="two files"),
        pytest.param(["score", "LOG", "-a", "gae:critic=LOG"], "is no fitted critic of this version: ", id="score"),
        pytest.param(["score", "LOG", "-a", "gae:critic=X"], "cannot read the fitted critic ", id="score by nothing"),
    ],
)
def test_errors_say_what_to_do(tmp_path: Path, log: Path, arguments: list[str], said: str) -> None:
    paths = {"LOG": str(log), "X": str(tmp_path / "x.critic")}
    before = log.read_bytes()
    result = command(*(paths.get(a, a.replace("LOG", paths["LOG"]).replace("=X", f"={paths['X']}")) for a in arguments))
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "x.critic").exists()
    assert log.read_bytes() == before


def test_no_request_makes_the_server_look_at_a_file(file: Path) -> None:
    with pytest.raises(tc.InputError, match="a stored run asks a critic by its kind"):
        configured("gae", {"critic": str(file)})
    with pytest.raises(tc.InputError, match="a stored run asks a critic by its kind"):
        of_spec(f"gae:lam=1,critic={file}")
    with pytest.raises(tc.UnknownNameError, match="no critic named"):
        configured("gae", {"critic": "me"})
