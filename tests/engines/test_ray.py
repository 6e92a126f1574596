"""Ray: one local cluster of two workers for the whole file; skipped where Ray is not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.worlds import batch, killed_once
from trajcredit.engines.base import Engine
from trajcredit.engines.opening import engine_of
from trajcredit.engines.scoring import attribution
from trajcredit.errors import InputError
from trajcredit.service.plugins import choose


@pytest.fixture(scope="module")
def ray() -> Iterator[Engine]:
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    with engine_of("ray", 2) as opened:
        yield opened


pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of sockets and processes that it ends later


@pytest.mark.parametrize("spec", ["grpo", "dag:off_path=0.5", "shapley"])
def test_the_bits_are_those_of_this_process(ray: Engine, spec: str) -> None:
    [choice] = choose([spec])
    here, there = choice.attributor(batch()), attribution(ray, choice.attributor, batch())
    assert here.credit.tobytes() == there.credit.tobytes()
    assert here.advantage.tobytes() == there.advantage.tobytes()


def test_results_come_in_the_order_of_the_items(ray: Engine) -> None:
    assert list(ray.map(abs, range(-20, 0))) == list(range(20, 0, -1))


def test_what_the_function_raises_is_raised_here(ray: Engine) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(ray.map(int, ["1", "x"]))


def test_the_item_of_a_killed_worker_is_done_again_and_comes_once(ray: Engine, tmp_path: Path) -> None:
    marks = ["=0", "=1", f"{tmp_path}/dead=2", "=3", "=4"]
    assert list(ray.map(killed_once, marks)) == list(range(5))
    assert (tmp_path / "dead").exists()


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'trajcredit\[ray\]'"):
        engine_of("ray")
