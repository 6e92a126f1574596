"""Cases made from public bug reports whose input names states or branches: what a step is held against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import lcm
from typing import Any

import numpy as np

import trajcredit as tc
from tests.cases.logs import Case
from trajcredit.attributors import Tree
from trajcredit.batching import Batch
from trajcredit.model import Reward, Span, Trajectory

__all__ = ["STATES"]


def _anchor_steps(case: Case) -> None:
    """One action a step, each in the state that the case names."""
    given, expect = case["input"], case["expect"]
    runs = given["trajectories"]
    batch = _in_states(
        [(run["id"], run["group"], [(step["state"], step["reward"]) for step in run["steps"]]) for run in runs]
    )
    params = given["params"]
    credit = tc.attribute(batch, "gigpo", gamma=params["gamma"], step_weight=params["omega"])
    wanted = [x for run in runs for x in expect["step_advantages"][run["id"]]]
    np.testing.assert_allclose(credit.advantage, wanted, rtol=0, atol=expect["tolerance"])


def _turn_tree(case: Case) -> None:
    """Every way from the root to a leaf is a rollout, taken as often as its branches are when each is as likely."""
    given, expect = case["input"], case["expect"]
    nodes = {node["id"]: node for node in given["nodes"]}
    paths = [path for root in _children(nodes, None) for path in _paths(nodes, [root])]
    shares = [int(np.prod([len(_children(nodes, nodes[name]["parent"])) for name in path])) for path in paths]
    runs = [
        (f"{'/'.join(path)} {copy}", "tree", [(name, nodes[name]["reward"]) for name in path])
        for path, share in zip(paths, shares, strict=True)
        for copy in range(lcm(*shares) // share)
    ]
    values = Tree(gamma=given["params"]["gamma"]).state_values(_in_states(runs))
    visited = [name for _, _, steps in runs for name, _ in steps]
    for name, wanted in expect["values"].items():
        got = values[[at for at, other in enumerate(visited) if other == name]]
        np.testing.assert_allclose(got, wanted, rtol=0, atol=expect["tolerance"])


def _children(nodes: dict[str, Any], parent: str | None) -> list[str]:
    return [name for name, node in nodes.items() if node["parent"] == parent]


def _paths(nodes: dict[str, Any], path: list[str]) -> Iterator[list[str]]:
    further = _children(nodes, path[-1])
    for name in further:
        yield from _paths(nodes, [*path, name])
    if not further:
        yield path


def _in_states(runs: Sequence[tuple[str, str, Sequence[tuple[str, float]]]]) -> Batch:
    """The batch of runs (id, group, state and reward of each step), one action a step, its state as named."""
    batch = tc.batch(
        [
            Trajectory(
                id=name,
                group=group,
                rewards=[Reward(float(reward), span=k) for k, (_, reward) in enumerate(steps)],
                spans=[Span("assistant", k) for k in range(len(steps))],
                terminated=True,
            )
            for name, group, steps in runs
        ]
    )
    names: dict[str, int] = {}
    numbers = [names.setdefault(state, len(names)) for _, _, steps in runs for state, _ in steps]
    return replace(batch, state_key=np.array(numbers, dtype=np.uint64))


STATES: dict[str, Callable[[Case], None]] = {"anchor_steps": _anchor_steps, "turn_tree": _turn_tree}
"""Case format -> what runs it."""
