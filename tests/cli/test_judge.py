"""`trajcredit judge` and what `score` makes of its file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner, Result

from tests.judges.scripted import Asked, fair, served
from trajcredit import registry
from trajcredit.batching import Finding
from trajcredit.cli.root import root
from trajcredit.errors import JudgeError
from trajcredit.judges import Basis, Case, Means, Verdict

LOG = [
    {
        "id": f"run-{n}",
        "group_id": "g",
        "reward": n % 2,
        "messages": [
            {"role": "user", "content": "which seat is free?"},
            {"role": "assistant", "content": f"Seat {n}4-C is."},
        ],
    }
    for n in range(3)
]


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in LOG))
    return str(path)


def _cli(*arguments: str, **env: str) -> Result:
    return CliRunner().invoke(root, list(arguments), env=env)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_rules_say_goes_through_a_file_to_the_same_credit(log: str, tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    done = _cli("judge", "rules", log, "-o", str(out), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["judged"] == 3
    assert "3 trajectories judged, 0 not" in done.stderr
    on_the_spot, by_file = (_cli("score", log, "-a", f"judge:judge={judge}") for judge in ("rules", str(out)))
    assert on_the_spot.stdout == by_file.stdout != ""
    assert _cli("score", log, "-a", f"judge:judge=rules+{out}").exit_code == 0
    wrong = _cli("score", log, "-a", f"judge:judge={tmp_path / 'none.jsonl'}")
    assert (wrong.exit_code, "no such file" in wrong.stderr) == (2, True)


def test_a_model_is_asked_by_its_file_of_settings_and_resumed_without_paying_twice(log: str, tmp_path: Path) -> None:
    out, settings = tmp_path / "o.jsonl", tmp_path / "judges.toml"
    away = [True]

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        return (500, b"") if away[0] and "24-C" in json.dumps(asked.data) else fair(asked, number)

    with served(script) as server:
        base = f'base_url = "http://127.0.0.1:{server.port}/v1"\nallow = ["127.0.0.1"]\n'
        settings.write_text(f'[judges.mine]\n{base}model = "m"\nattempts = 1\nprice_in = 10000\n')
        first = _cli("judge", "llm", log, "-o", str(out), "--judges", str(settings))
        assert first.exit_code == 3
        assert "2 trajectories judged, 1 not" in first.stderr
        assert "not judged, 1: 127.0.0.1 answered with status 500; it was asked once" in first.stderr
        assert "3 requests (0 again)" in first.stderr
        assert "cost 2" in first.stderr
        assert [row.get("missing") is None for row in _rows(out)] == [True, True, False]
        scored = _cli("score", log, "-a", f"judge:judge={out}")
        credit = {row["trajectory_id"]: row["credit"] for row in map(json.loads, scored.stdout.splitlines())}
        assert credit["run-2"] is None
        assert None not in (credit["run-0"], credit["run-1"])
        assert "unjudged" in scored.stderr
        away[0] = False
        second = _cli("judge", "llm", log, "-o", str(out), TRAJCREDIT_JUDGES=str(settings))
        assert second.exit_code == 0
        assert "1 request (0 again), 2 answers kept before" in second.stderr
        assert len(server.asked) == 4
    assert [row["model"] for row in _rows(out)] == ["m"] * 3
    assert (tmp_path / "o.jsonl.answers.jsonl").exists()


WRONG = {
    "rambles": Verdict((0.1,) * 7, 0.0),
    "exaggerates": Verdict((1.5,), 0.0),
    "does not know numbers": Verdict((float("nan"),), 0.0),
    "begins late": Verdict((0.5,), 0.5),
    "points elsewhere": Verdict((0.5,), 0.0, findings=(Finding(9, "r", "why", 0.5),)),
}
NO_NUMBER = "the judge gave no opinion that can be kept: "


def test_a_private_address_that_is_not_allowed_is_said_before_anything_is_written(log: str, tmp_path: Path) -> None:
    settings, out = tmp_path / "judges.toml", tmp_path / "o.jsonl"
    settings.write_text('[judges.mine]\nbase_url = "https://127.0.0.1:1/v1"\nmodel = "m"\n')
    result = _cli("judge", "llm", log, "-o", str(out), "--judges", str(settings))
    assert result.exit_code == 2
    assert "127.0.0.1 is at a private address, and it is not in `allow` of the judge's settings" in result.stderr
    assert not out.exists()


@dataclass(frozen=True)
class Faulty:
    """Fails as it is told."""

    how: str = "raises"

    scale: ClassVar[str] = "credit"
    segments: ClassVar[str] = "action"
    local: ClassVar[bool] = False

    def basis(self, means: Means) -> Basis:
        return Basis("x")

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        for n, case in enumerate(cases):
            if n == 1:
                if self.how == "raises":
                    raise ValueError("no good")
                if self.how == "gives up":
                    raise JudgeError("tired")
                if self.how == "ends":
                    return
                if self.how == "is interrupted":
                    raise KeyboardInterrupt
                yield WRONG[self.how]
                continue
            yield Verdict((0.5,) * len(case.segments), 0.0)


@pytest.mark.parametrize(
    ("how", "said", "missing"),
    [
        ("raises", "the judge 'faulty' failed: ValueError", 2),
        ("gives up", "the judge gave up: tired", 2),
        ("ends", "it was stopped before this one was judged", 2),
        ("rambles", "the judge gave 7 scores for 1 segments", 1),
        ("exaggerates", f"{NO_NUMBER}segments.0.score: expected a number from -1 to 1, found 1.5", 1),
        ("does not know numbers", f"{NO_NUMBER}segments.0.score: expected a number from -1 to 1, found nan", 1),
        ("begins late", f"{NO_NUMBER}start: expected a number from 0 to 1, and 0 on the scale credit; found 0.5", 1),
        ("points elsewhere", f"{NO_NUMBER}findings: expected spans from 0 to 1", 1),
    ],
)
def test_a_judge_that_fails_leaves_the_rest_unjudged_with_the_reason(
    how: str, said: str, missing: int, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.judges._plugins, "faulty", Faulty)
    out = tmp_path / "o.jsonl"
    done = _cli("judge", f"faulty:how={how}", log, "-o", str(out))
    assert done.exit_code == 3
    assert f"not judged, {missing}: {said}" in done.stderr
    assert [row.get("missing") for row in _rows(out)].count(said) == missing


def test_who_interrupts_is_told_how_far_it_was_and_the_file_of_before_stays(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.judges._plugins, "faulty", Faulty)
    out = tmp_path / "o.jsonl"
    out.write_text("before")
    done = _cli("judge", "faulty:how=is interrupted", log, "-o", str(out))
    assert done.exit_code == 1
    assert "stopped: 1 of 3 trajectories judged, nothing is written" in done.stderr
    assert out.read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log.jsonl", "o.jsonl"]


def test_scores_of_others_become_opinions_that_say_what_is_missing(log: str, tmp_path: Path) -> None:
    scores, out = tmp_path / "s.csv", tmp_path / "o.jsonl"
    scores.write_text("trajectory_id,message_index,score,reason\nrun-0,1,-0.5,no such seat\nrun-2,1,0.25,\nz,1,0,\n")
    done = _cli("judge", f"file:path={scores}", log, "-o", str(out))
    assert done.exit_code == 3
    assert "2 trajectories judged, 1 not" in done.stderr
    assert "not judged, 1: there is no opinion of it" in done.stderr
    assert "rest on no outcome" in done.stderr
    assert "warning: s.csv: opinions of what was not read: 'z'\n" in done.stderr
    first, second, third = _rows(out)
    assert first["segments"] == [{"actions": [1], "spans": [1], "score": -0.5, "reason": "no such seat"}]
    assert (second["missing"], second.get("segments", [])) == ("there is no opinion of it", [])
    by_scores, by_opinions = (_cli("score", log, "-a", f"judge:judge={one}") for one in (scores, out))
    assert by_scores.stdout == by_opinions.stdout != ""
    scores.write_text("trajectory_id,message_index,score\nrun-0,1,-5\n")
    wrong = _cli("judge", f"file:path={scores}", log, "-o", str(out))
    assert wrong.exit_code == 2
    assert f"{scores}:2: score: expected a number from -1 to 1 on the scale credit, found -5.0" in wrong.stderr
    scores.write_text("trajectory_id,message_index,score\nz,1,0.5\n")
    other = _cli("judge", f"file:path={scores}", log, "-o", str(out))
    assert other.exit_code == 2
    assert "no opinion is about a trajectory that was read; the first: 'z'" in other.stderr
    assert _rows(out) == [first, second, third]


def test_opinions_that_lie_among_the_logs_are_no_logs(log: str, tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    for again in (False, True):
        done = _cli("judge", "rules", str(tmp_path), "-o", str(out))
        assert done.exit_code == 0
        assert ("o.jsonl: no log: opinions of a judge" in done.stderr) is again
    assert len(_rows(out)) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("judge", "oracle", "LOG", "-o", "OUT"), "no judge named 'oracle'"),
        (("judge", "rules:x=1", "LOG", "-o", "OUT"), "no parameter 'x'"),
        (("judge", "llm", "LOG", "-o", "OUT"), "no model is configured"),
        (("judge", "llm:asks=all", "LOG", "-o", "OUT"), "asks"),
        (("judge", "file", "LOG", "-o", "OUT"), "path= names the file"),
        (("judge", "rules", "LOG", "-o", "OUT", "--answers", "A"), "asks no model"),
        (("judge", "rules", "LOG", "-o", "LOG"), "one of the logs to read"),
        (("judge", "llm", "LOG", "-o", "OUT", "--judges", "NONE"), "NONE"),
        (("score", "LOG", "-a", "judge:judge=llm"), "is not asked while credit is worked out"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_written(
    arguments: tuple[str, ...], said: str, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = _cli(*(log if one == "LOG" else one for one in arguments))
    assert done.exit_code == 2
    assert said in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_the_judges_are_listed() -> None:
    assert "`-a judge:judge=rules` asks it on the spot" in _cli("judges").stdout
    listed = {row["name"]: row for row in json.loads(_cli("judges", "--json").stdout)}
    assert {"rules", "llm", "file"} <= set(listed)
    assert listed["llm"]["on_the_spot"] is False
    assert {name: (row["scale"], row["segments"]) for name, row in listed.items() if name in ("rules", "file")} == {
        "rules": ("state", "action"),
        "file": ("credit", "action"),
    }
    assert "one score a segment (action), on the scale state: how things stand after it, 0..1" in _cli("judges").stdout
