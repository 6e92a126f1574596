"""The Python contract: read, batch, attribute, export."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

import trajcredit as tc
from tests.build import group_of, run
from trajcredit.attributors.base import Scope
from trajcredit.service import stateless


@dataclass(frozen=True)
class Mine:
    """Gives back what it was made with."""

    given: Any
    """What to give back; an exception is raised."""

    needs: ClassVar[tuple[str, ...]] = ()
    scope: ClassVar[Scope] = "group"

    def __call__(self, batch: tc.Batch) -> tc.Attribution:
        if isinstance(self.given, Exception):
            raise self.given
        return tc.Attribution(credit=self.given, advantage=self.given)

    def explain(self, batch: tc.Batch, span: int) -> tuple[tc.Term, ...]:
        return ()


def test_from_log_to_file_in_four_lines(tmp_path: Path) -> None:
    log, out = tmp_path / "log.jsonl", tmp_path / "advantages.jsonl"
    chats = [
        {
            "id": f"r{i}",
            "group": "g",
            "reward": i,
            "messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}],
        }
        for i in (0, 1)
    ]
    log.write_text("".join(json.dumps(chat) + "\n" for chat in chats))
    trajectories = tc.read(str(tmp_path / "*.jsonl"))
    batch = tc.batch(trajectories)
    credit = tc.attribute(batch, "dag", gamma=0.95)
    assert tc.export(credit, to="jsonl", out=out).rows == 4
    assert [json.loads(line)["credit"] for line in out.read_text().splitlines()] == [None, -0.5, None, 0.5]


def test_a_bad_record_is_beside_the_good_ones(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"id": "a", "messages": [{"role": "user", "content": "?"}]}\n{broken\n')
    reading = tc.read(log)
    assert [t.id for t in reading] == ["a"]
    assert reading[:1] == (reading[0],)
    assert [error.line for error in reading.errors] == [2]


def test_the_project_is_given_to_trajectories_that_name_none() -> None:
    other = tc.Trajectory(id="b", project="own", spans=[])
    reading = stateless.gather([run("u", name="a"), other], project="flights")
    assert [t.project for t in reading] == ["flights", "own"]


def test_an_attributor_by_name_takes_parameters_and_remembers_them() -> None:
    credit = tc.attribute(tc.batch(named(group_of(0.0, 1.0))), "dag", gamma=0.5)
    assert credit.attributor == "dag"
    assert credit.parameters["gamma"] == 0.5


def test_an_attributor_already_made_is_taken_as_it_is() -> None:
    batch = tc.batch(named(group_of(0.0, 1.0)))
    credit = tc.attribute(batch, Mine(np.array([1.0, 2.0])))
    assert credit.attributor == "Mine"
    np.testing.assert_array_equal(credit.credit, [1, 2])
    with pytest.raises(tc.InputError, match="made already"):
        tc.attribute(batch, Mine(None), gamma=1)


def test_writes_says_which_tools_change_state() -> None:
    batch = tc.batch(named([run("ucra", 1.0)]), writes={"look": True})
    assert batch.is_write.tolist() == [False] * 4, "the declaration of the tool wins"


def test_asking_for_a_trajectory_that_is_not_there_names_some_that_are() -> None:
    with pytest.raises(tc.NotFoundError, match=r"no trajectory 'x' among the 2 read, e.g. t0, t1"):
        stateless.only(named(group_of(0.0, 1.0)), "x")


def test_export_takes_several_credits_and_leaves_no_half_file(tmp_path: Path) -> None:
    batch = tc.batch(named(group_of(0.0, 1.0)))
    out = tmp_path / "a.parquet"

    def failing() -> Iterator[tc.Credit]:
        yield tc.attribute(batch, "grpo")
        raise tc.InputError("the second attributor failed")

    out.write_text("what was there")
    with pytest.raises(tc.InputError, match="second"):
        tc.export(failing(), to="parquet", out=out)
    assert out.read_text() == "what was there"
    assert os.listdir(tmp_path) == ["a.parquet"]
    assert tc.export([tc.attribute(batch, name) for name in ("grpo", "rloo")], to="parquet", out=out).rows == 4


def test_an_unknown_exporter_lists_the_known_ones(tmp_path: Path) -> None:
    credit = tc.attribute(tc.batch(named(group_of(0.0, 1.0))), "grpo")
    with pytest.raises(tc.UnknownNameError, match=r"no exporter named 'csv'; known: .*jsonl, .*parquet"):
        tc.export(credit, to="csv", out=tmp_path / "a.csv")


def named(trajectories: list[tc.Trajectory]) -> list[tc.Trajectory]:
    return [msgspec.structs.replace(t, id=f"t{i}") for i, t in enumerate(trajectories)]
