"""Branches of a trace: what they share is trained in the first that is exported, all else where it was sampled."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

import trajcredit as tc
from tests.exporters.token_rows import token_row
from tests.formats.logs import read_lines
from trajcredit.exporters.branches import CONTEXT, UNKNOWN, Branches
from trajcredit.model import Trajectory
from trajcredit.service.plugins import exporter_of
from trajcredit.tokens import Aligned, OwnedTokens

USER = {"role": "user", "content": "go"}
SAID = {"role": "assistant", "content": "yes"}


def told(ids: list[int], parent: int | None) -> dict[str, Any]:
    return {"message": USER, "parent": parent, "sampled": False, "token_ids": ids, "mask": [False] * len(ids)}


def said(ids: list[int], parent: int, logprobs: list[float] | None = None) -> dict[str, Any]:
    """An answer that a token opens which the policy did not sample."""
    given = [-1.0] * len(ids) if logprobs is None else logprobs
    return {
        "message": SAID,
        "parent": parent,
        "sampled": True,
        "token_ids": [9, *ids],
        "mask": [False, *(True for _ in ids)],
        "logprobs": given,
    }


def traces(*nodes: Any, name: str = "t", reward: float = 1.0) -> list[Trajectory]:
    line = {
        "version": 1, "id": name, "task": {"key": "k"}, "agent": {"name": "a"}, "nodes": list(nodes),
        "rewards": {"r": {"score": reward, "weight": 1.0}},
    }  # fmt: skip
    found = read_lines(line)
    assert all(isinstance(one, Trajectory) for one in found)
    return [one for one in found if isinstance(one, Trajectory)]


OTHER = traces(told([1], None), said([50], 0), name="o", reward=0.0)


def rows(*runs: Trajectory, spec: str = "tokens") -> tuple[list[dict[str, Any]], Any]:
    out = io.BytesIO()
    done = exporter_of(spec)([tc.attribute(tc.batch([*runs, *OTHER]), "rtg")], out)
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    return [row for row in found if row["trajectory_id"] != "o"], done.counted


def trained(found: list[dict[str, Any]]) -> list[tuple[str, list[int]]]:
    return [
        (row["trajectory_id"], [i for i, own in zip(row["response_ids"], row["response_mask"], strict=True) if own])
        for row in found
    ]


def test_what_is_shared_is_trained_once_and_what_parts_where_it_was_sampled() -> None:
    run = traces(told([1, 2], None), said([20, 21], 0), told([30], 1), said([22], 2), told([40], 1), said([23], 4))
    found, counted = rows(*run)
    assert trained(found) == [("t", [20, 21, 23]), ("t:branch-0", [22])]
    assert [row["advantages"][:2] for row in found] == [[1.0, 1.0], [0.0, 0.0]]
    assert counted.notes == {CONTEXT: 1}


@pytest.mark.parametrize("second", [[20, 21], [20, 22], [20]], ids=["equal", "begins alike", "a beginning"])
def test_answers_that_were_sampled_apart_are_each_trained(second: list[int]) -> None:
    found, counted = rows(*traces(told([1, 2], None), said([20, 21], 0), said(second, 0)))
    assert sorted(ids for _, ids in trained(found)) == sorted([[20, 21], second])
    assert counted.notes == {}


def test_each_sampled_node_is_trained_once_in_a_tree() -> None:
    """Answers 20 to 26 in a tree of branches of branches; two pairs of answers are equal token for token."""
    nodes = [told([1], None), said([20], 0), told([2], 1), said([21], 2), told([3], 3), said([22], 4)]
    nodes += [said([21], 2), told([3], 6), said([22], 7), said([23], 7), told([4], 1), said([24], 10)]
    found, _ = rows(*traces(*nodes))
    counts = Counter(token for _, ids in trained(found) for token in ids)
    assert counts == {20: 1, 21: 2, 22: 2, 23: 1, 24: 1}


def test_a_branch_that_samples_nothing_of_its_own_is_left_out() -> None:
    found, counted = rows(*traces(told([1], None), said([20], 0), told([2], 1), told([3], 2), told([4], 1)))
    assert trained(found) == [("t", [20])]
    assert dict(counted.left_out) == {"nothing of its own to train: an earlier branch of the trace has it": 1}


def test_what_a_branch_shares_with_one_that_is_left_out_is_its_own() -> None:
    """The run does not fit, its branch does: what they share is trained in the branch."""
    nodes = [told([1], None), said([20], 0), told([2], 1), said([21], 2, logprobs=[]), told([3], 3), said([22], 1)]
    found, counted = rows(*traces(*nodes), spec="tokens:misaligned=drop")
    assert trained(found) == [("t:branch-1", [20, 22])]
    assert counted.failed == 1


def test_a_branch_whose_beginning_is_elsewhere_is_trained_whole_with_a_note() -> None:
    run, branch = traces(told([1], None), said([20], 0), told([2], 1), said([21], 2), said([22], 1))
    found, counted = rows(branch)
    assert trained(found) == [("t:branch-1", [20, 22])]
    assert counted.notes == {UNKNOWN: 1}
    silent = replace(branch, parent=replace(branch.parent, span=None))  # type: ignore[type-var]
    assert rows(run, silent)[1].notes == {UNKNOWN: 1}


def test_branches_of_a_trace_that_was_renamed_go_by_its_new_name() -> None:
    runs = traces(told([1], None), said([20], 0), told([2], 1), said([21], 2), said([22], 1))
    again = [
        replace(one, id=f"{one.id}#2", parent=None if one.parent is None else replace(one.parent, trajectory="t#2"))
        for one in runs
    ]
    found, _ = rows(*runs, *again)
    assert [ids for _, ids in trained(found)] == [[20, 21], [22], [20, 21], [22]]


def test_what_is_left_of_a_branch_is_numbered_from_0() -> None:
    """Its first row trained only what is shared: readers of a file take a gap for a lost row."""
    run, branch = traces(told([1, 2], None), said([20, 21], 0), told([30], 1), said([22], 2), said([23], 2))
    assert (run.id, branch.id) == ("t", "t:branch-0")
    shared, own = next(i for i, span in enumerate(branch.spans) if span.kind == "assistant"), len(branch.spans) - 1
    before = token_row([1, 2, 9], [20, 21], [1, 1], [1.0, 1.0], spans=[OwnedTokens(shared, 0, 0, 2, 1.0)])
    after = token_row([1, 2], [23], [1], [1.0], spans=[OwnedTokens(own, 1, 0, 1, 1.0)], row=1)
    branches = Branches()
    branches.meet(run)
    branches.keep(run, [before])
    branches.meet(branch)
    found = branches.own(branch, Aligned((before, after)))
    assert [(row.row, row.response_ids.tolist()) for row in found.rows] == [(0, [23])]
    branches.keep(branch, found.rows)
