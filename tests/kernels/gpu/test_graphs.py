"""Twins of passes over graphs: against numba, walking every path, and 64 questions at once against one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given

from tests import naive
from tests.kernels.gpu.twins import CLOSE, devices, few, same, tensors
from tests.laws import Dag, dags, halves, unit
from trajcredit import kernels
from trajcredit.kernels import gpu
from trajcredit.kernels.subgoals import first_end


def shaped(kind: str, n: int = 120) -> Dag:
    """A chain, a fan out and in again, layers of many edges, or spans without edges."""
    edges: list[tuple[int, int]] = []
    if kind == "chain":
        edges = [(i, i + 1) for i in range(n - 1)]
    elif kind == "fan":
        edges = [(0, i) for i in range(1, n - 1)] + [(i, n - 1) for i in range(n - 1)]
    elif kind == "layers":
        edges = [(p, c) for c in range(10, n) for p in range(c // 10 * 10 - 10, c // 10 * 10, 3)]
    random = np.random.default_rng(n)
    return Dag(
        sinks=random.random(n) < 0.1,
        action_mask=random.random(n) < 0.5,
        edges=[(p, c, float(random.choice([0.25, 0.5, 0.9, 1.0]))) for p, c in edges],
    )


def every_pass(dag: Dag, device: str, gamma: float, smear: float) -> None:
    """All twins on one graph against numba."""
    links, gate = (dag.parent_offsets, dag.parents), dag.gain > 0.3
    same(kernels.ancestors, device, dag.sinks, *links, gate)
    same(kernels.best_path, device, dag.sinks, dag.action_mask, *links, dag.gain, gamma)
    same(first_end, device, dag.sinks, dag.action_mask, *links, gate)
    deltas = np.where(dag.action_mask, np.linspace(-1.0, 1.0, len(dag.sinks)), 0.0)
    weight = np.maximum(dag.gain, 0.125)
    got = same(kernels.smeared, device, deltas, dag.action_mask, *links, weight, gate, smear)[0]
    assert got.sum() == pytest.approx(deltas.sum(), abs=1e-9)
    for target in np.flatnonzero(dag.action_mask)[:2].tolist():
        shares = same(kernels.smeared_onto, device, target, dag.action_mask, *links, weight, gate, smear)[0]
        assert float(shares @ deltas) == pytest.approx(float(got[target]), abs=CLOSE)


@devices
@few
@given(dags(), halves, unit)
def test_small_graphs(device: str, dag: Dag, gamma: float, smear: float) -> None:
    every_pass(dag, device, gamma, smear)
    links = tensors((dag.sinks, dag.action_mask, dag.parent_offsets, dag.parents, dag.gain), device)
    best, hops = gpu.best_path(*(*links, gamma))
    factors, steps = naive.best_path(dag.sinks.tolist(), dag.action_mask.tolist(), dag.edges, gamma)
    np.testing.assert_array_equal(best.cpu().numpy(), factors)
    assert hops.tolist() == steps
    found = gpu.ancestors(links[0], links[2], links[3], links[4] > 0)
    assert found.tolist() == naive.ancestors(dag.sinks.tolist(), [(p, c) for p, c, gain in dag.edges if gain > 0])


@devices
@pytest.mark.parametrize("kind", ["chain", "fan", "layers", "none"])
def test_deep_wide_dense_and_empty_graphs(device: str, kind: str) -> None:
    for gamma, smear in [(0.9, 0.5), (1.0, 0.0), (0.0, 0.99)]:
        every_pass(shaped(kind), device, gamma, smear)


@devices
def test_best_paths_of_many_discounts_in_one_pass(device: str) -> None:
    dag = shaped("layers")
    columns: Any = tensors((dag.sinks, dag.action_mask, dag.parent_offsets, dag.parents, dag.gain), device)
    gammas = [1.0, 0.9, 0.5, 0.0]
    best, hops = gpu.best_path(*(*columns, torch.tensor(gammas, dtype=torch.float64, device=device)[:, None]))
    for s, gamma in enumerate(gammas):
        alone = gpu.best_path(*(*columns, gamma))
        torch.testing.assert_close(best[s], alone[0], rtol=0, atol=0, equal_nan=True)
        assert hops[s].tolist() == alone[1].tolist()


@devices
@pytest.mark.parametrize("kind", ["chain", "fan", "layers", "none"])
def test_64_questions_in_one_pass_are_each_by_itself(device: str, kind: str) -> None:
    dag, random = shaped(kind), np.random.default_rng(5)
    sinks = random.integers(-(2**63), 2**63, len(dag.sinks)) & random.integers(-(2**63), 2**63, len(dag.sinks))
    gate = random.integers(-(2**63), 2**63, len(dag.edges)) | random.integers(-(2**63), 2**63, len(dag.edges))
    there = tensors((sinks, dag.parent_offsets, dag.parents, gate), device)
    got = gpu.ancestor_sets(*there).cpu().numpy()
    for bit in (0, 1, 31, 62, 63):
        alone = kernels.ancestors(
            (sinks >> bit) & 1 == 1, dag.parent_offsets, dag.parents, np.asarray((gate >> bit) & 1 == 1)
        )
        assert ((got >> bit) & 1 == 1).tolist() == alone.tolist()
