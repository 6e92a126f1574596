"""Ridge, the logistic link and variance components, against slow twins and data whose truth is known."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from trajcredit.arrays import F64
from trajcredit.critics.components import contrasts, variance_components
from trajcredit.critics.regression import Linked, logistic, ridge, straight


def test_ridge_by_hand() -> None:
    # one column (1, 2), target (1, 1), precision 1: (1 + 2) / (1 + 4 + 1)
    np.testing.assert_allclose(ridge(np.array([[1.0], [2.0]]), np.ones(2), np.ones(2)), [0.5])
    # one row (3, 4), target 2, precision 1/4: D'(DD' + 4)^-1 y = (3, 4) 2 / 29
    np.testing.assert_allclose(ridge(np.array([[3.0, 4.0]]), np.array([2.0]), np.array([0.25])), [6 / 29, 8 / 29])


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (1, 3), (3, 1)], ids=str)
def test_both_sides_of_ridge_solve_the_normal_equations(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    design, target = random.normal(size=shape), random.normal(size=shape[0])
    precision = random.uniform(0.1, 9, shape[0])
    found = ridge(design, target, precision)
    wanted = np.linalg.solve(design.T @ np.diag(precision) @ design + np.eye(shape[1]), design.T @ (precision * target))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    wide = np.hstack([design, np.zeros((shape[0], 9))])  # the other side; columns of zeros change nothing
    np.testing.assert_allclose(ridge(wide, target, precision)[: shape[1]], found, atol=1e-12)


def test_straight_weighs_each_column_by_its_prior() -> None:
    # target = c + noise, prior 4, noise 2, two rows of 1: posterior mean = 4 x 6 / (4 x 2 + 2)
    np.testing.assert_allclose(straight(np.ones((2, 1)), np.array([3.0, 3.0]), np.array([4.0]), 2.0), [2.4])
    found = straight(np.eye(2), np.ones(2), np.array([1.0, 0.0]), 1.0)
    np.testing.assert_allclose(found, [0.5, 0.0])  # no prior variance, no coefficient


def newton(design: F64, outcome: F64, member: F64, prior: F64) -> tuple[F64, float]:
    """Posterior mode of effects and level: Newton on coefficients in their own units, one row after the other."""
    columns = np.hstack([design, member, np.ones((len(outcome), 1))])
    penalty = 1 / np.concatenate([prior, np.full(member.shape[1], 0.3), [10.0]])
    at = np.zeros(columns.shape[1])
    for _ in range(200):
        gradient, bend = penalty * at, np.diag(penalty)
        for row, y in zip(columns, outcome, strict=True):
            p = 1 / (1 + exp(-float(row @ at)))
            gradient = gradient + (p - y) * row
            bend = bend + p * (1 - p) * np.outer(row, row)
        at = at - np.linalg.solve(bend, gradient)
    return at[: design.shape[1]], float(at[-1])


def sample(n: int, width: int, groups: int, seed: int) -> tuple[F64, F64, F64]:
    random = np.random.default_rng(seed)
    design = random.normal(size=(n, width))
    member = np.eye(groups)[np.arange(n) % groups]
    return design, member, 1 / (1 + np.exp(-design @ np.linspace(-1, 2, width)))


@pytest.mark.parametrize("fractions", [False, True], ids=["won or lost", "fractions"])
@pytest.mark.parametrize(("n", "width"), [(40, 3), (12, 30)], ids=["tall", "wide"])
def test_logistic_finds_what_newton_finds(n: int, width: int, fractions: bool) -> None:
    design, member, chance = sample(n, width, 4, seed=n)
    outcome = chance if fractions else (np.random.default_rng(2).random(n) < chance).astype(float)
    prior = np.linspace(0.2, 2, width)
    level, effects = logistic(design, outcome, member, prior)
    wanted, wanted_level = newton(design, outcome, member, prior)
    np.testing.assert_allclose(effects, wanted, atol=1e-5)
    assert level == pytest.approx(wanted_level, abs=1e-5)


@pytest.mark.parametrize("prior", [1.0, 1e4, 1e12], ids="prior variance {:g}".format)
def test_logistic_holds_where_outcomes_can_be_told_apart_and_wins_are_rare(prior: float) -> None:
    design = np.zeros((400, 2))
    design[0, 0] = 30.0
    design[1:, 1] = np.linspace(-1, 1, 399)
    outcome = np.zeros(400)
    outcome[0] = 1.0
    found_level, found = logistic(design, outcome, np.ones((400, 1)), np.full(2, prior))

    def loss(effects: F64, level: float) -> float:
        odds = design @ effects + level
        return float((np.logaddexp(0, odds) - outcome * odds).sum() + effects @ effects / prior / 2 + level**2 / 20)

    assert np.isfinite(found).all()
    assert loss(found, found_level) <= loss(np.zeros(2), 0.0)
    chance = Linked(found_level, 1.0).forecast(design @ found)
    assert chance[0] > 0.9
    assert chance[1:].max() < 0.1


def test_the_forecast_of_a_link_by_hand() -> None:
    link = Linked(level=log(3), span=2.0)
    np.testing.assert_allclose(link.forecast(np.array([0.0, -log(3), 1e9, -1e9])), [1.5, 1, 2, 0], atol=1e-15)


def simulated(kinds: F64, columns: int, n: int, noise: float, seed: int) -> tuple[F64, F64, np.ndarray]:
    random = np.random.default_rng(seed)
    kind = np.repeat(np.arange(len(kinds)), columns)
    design = random.normal(size=(n, len(kind)))
    target = design @ (random.normal(size=len(kind)) * np.sqrt(kinds)[kind]) + random.normal(size=n) * np.sqrt(noise)
    return design, target, kind


def each(kind: np.ndarray) -> F64:
    """Every column stands for one feature of its kind."""
    return np.eye(int(kind.max()) + 1)[:, kind]


def plainly(design: F64, target: F64, kind: np.ndarray, rounds: int) -> tuple[F64, float]:
    """The rounds of `variance_components`, one kind after the other, traces by sums over the diagonal."""
    n, parts = len(target), [design[:, kind == k] @ design[:, kind == k].T for k in range(int(kind.max()) + 1)]
    variance = target @ target / n
    scale = [float(np.median([0.3 * variance / len(parts) / np.trace(part) * n for part in parts]))] * len(parts)
    noise = 0.7 * variance
    for _ in range(rounds):
        cover = sum((s * part for s, part in zip(scale, parts, strict=True)), noise * np.eye(n))
        inverse = np.linalg.inv(cover)
        weights = inverse @ target
        squares = [s**2 * (weights @ part @ weights) for s, part in zip(scale, parts, strict=True)]
        effective = [s * np.trace(inverse @ part) for s, part in zip(scale, parts, strict=True)]
        mean = sum(squares) / sum(effective)
        scale = [s * ((q + mean) / (e + 1) / s) ** 0.5 for s, q, e in zip(scale, squares, effective, strict=True)]
        noise *= (weights @ weights / np.trace(inverse)) ** 0.5
    return np.array(scale), float(noise)


def test_components_are_what_the_plain_rounds_say_also_without_the_means_of_groups() -> None:
    design, target, kind = simulated(np.array([0.05, 0.01, 0.0]), 20, 60, 0.4, seed=8)
    group = np.random.default_rng(9).integers(0, 9, 60)
    centred = np.column_stack([design, target])
    for g in range(9):
        centred[group == g] -= centred[group == g].mean(axis=0)
    wanted, noise = plainly(centred[:, :-1], centred[:, -1], kind, 15)
    for rows, fixed in ((centred, 0), (contrasts(np.column_stack([design, target]), group), 9)):
        found = variance_components(rows[:, :-1], rows[:, -1], each(kind), fixed)
        np.testing.assert_allclose(found.kinds, wanted, rtol=1e-9)
        assert found.noise == pytest.approx(noise, rel=1e-9)


def test_a_column_that_stands_for_several_is_as_many_columns() -> None:
    design, target, _ = simulated(np.array([0.1]), 6, 40, 0.4, seed=10)
    many = design[:, [0, 0, 0, 1, 2, 3, 4, 5, 5]]
    kind = np.array([0, 0, 1, 0, 1, 0, 1, 0, 1])
    counts = np.array([[2.0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 1]])
    np.testing.assert_allclose(
        variance_components(design, target, counts).kinds,
        variance_components(many, target, each(kind)).kinds,
        rtol=1e-9,
    )


def test_contrasts_by_hand() -> None:
    # groups of two, one and three: (1 - 3) / sqrt 2; none; (2 - 4) / sqrt 2, (2 + 4 - 2 x 9) / sqrt 6
    found = contrasts(np.array([[1.0], [2], [7], [3], [4], [9]]), np.array([0, 2, 1, 0, 2, 2]))
    np.testing.assert_allclose(found[:, 0], [-2 / 2**0.5, -2 / 2**0.5, -12 / 6**0.5])
    assert contrasts(np.zeros((0, 2)), np.zeros(0, dtype=np.int64)).shape == (0, 2)


def test_known_components_are_found_again() -> None:
    truth = np.array([0.02, 0.002, 0.0])
    found, noises = [], []
    for seed in range(5):
        design, target, kind = simulated(truth, 40, 240, 0.5, seed)
        parts = variance_components(design, target, each(kind))
        found.append(parts.kinds)
        noises.append(parts.noise)
    first, second, third = np.mean(found, axis=0)
    assert 0.014 < first < 0.026
    assert 0.0005 < second < 0.005
    assert third < 0.1 * first
    assert 0.4 < np.mean(noises) < 0.6


def test_every_round_makes_the_outcome_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    design, target, kind = simulated(np.array([0.05, 0.001]), 30, 120, 0.3, seed=3)
    monkeypatch.setattr("trajcredit.critics.components.PULL", 0.0)
    likely = []
    for rounds in range(1, 12):
        monkeypatch.setattr("trajcredit.critics.components.ROUNDS", rounds)
        parts = variance_components(design, target, each(kind))
        cover = (design * parts.kinds[kind]) @ design.T + parts.noise * np.eye(120)
        likely.append(-np.linalg.slogdet(cover)[1] - target @ np.linalg.solve(cover, target))
    assert (np.diff(likely) > 0).all()


def test_a_kind_of_one_column_is_drawn_to_the_mean_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    design, target, kind = simulated(np.array([0.02]), 100, 300, 0.3, seed=5)
    design, kind = np.hstack([design, random.normal(size=(300, 1))]), np.append(kind, 1)  # the last says nothing
    drawn = variance_components(design, target, each(kind)).kinds
    monkeypatch.setattr("trajcredit.critics.components.PULL", 0.0)
    free = variance_components(design, target, each(kind)).kinds
    assert free[1] < 0.1 * free[0]
    assert free[1] < drawn[1] < drawn[0]
    assert drawn[1] > 3 * free[1]
    assert drawn[0] == pytest.approx(free[0], rel=0.05)


def test_some_noise_is_left_also_where_features_tell_all() -> None:
    random = np.random.default_rng(6)
    design = random.normal(size=(6, 40))
    target = design[:, 0] - design[:, 0].mean()
    parts = variance_components(design, target, each(np.arange(40) % 2))
    assert parts.noise >= 1e-6 * (target @ target) / 6
    assert np.isfinite(straight(design, target, parts.kinds[np.arange(40) % 2], parts.noise)).all()


def test_equal_outcomes_tell_nothing() -> None:
    parts = variance_components(np.ones((4, 2)), np.zeros(4), np.eye(2))
    assert parts.noise == 1.0
    assert parts.kinds.max() <= 1e-12


def test_features_that_are_all_zero_leave_all_to_noise() -> None:
    parts = variance_components(np.zeros((4, 2)), np.array([1.0, -1, 1, -1]), np.eye(2))
    assert np.isfinite(parts.kinds).all()
    assert parts.noise == pytest.approx(1.0, abs=0.02)
