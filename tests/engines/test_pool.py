"""The pool: order, killed workers, nobody left behind. Two processes, begun once for what can share them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer, main_thread

import pytest

from tests.engines.worlds import Deadly, batch, killed_once
from trajcredit.attributors import Attributor
from trajcredit.engines.base import Engine
from trajcredit.engines.opening import engine_of
from trajcredit.engines.pool import Pool
from trajcredit.engines.scoring import attribution
from trajcredit.errors import EngineError, InputError
from trajcredit.service.plugins import choose


@pytest.fixture(scope="module")
def pool() -> Iterator[Engine]:
    with engine_of("pool", 2) as opened:
        yield opened


@pytest.mark.parametrize("spec", ["grpo", "dag:off_path=0.5", "shapley"])
def test_the_bits_are_those_of_this_process(pool: Engine, spec: str) -> None:
    [choice] = choose([spec])
    attributor: Attributor = choice.attributor
    here, there = attributor(batch()), attribution(pool, attributor, batch())
    assert here.credit.tobytes() == there.credit.tobytes()
    assert here.advantage.tobytes() == there.advantage.tobytes()


def test_results_come_in_the_order_of_the_items(pool: Engine) -> None:
    assert list(pool.map(abs, range(-20, 0))) == list(range(20, 0, -1))


def test_what_the_function_raises_is_raised_here(pool: Engine) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(pool.map(int, ["1", "x"]))


def test_a_worker_has_one_thread_a_library(pool: Engine) -> None:
    assert list(pool.map(os.getenv, ["NUMBA_NUM_THREADS", "OMP_NUM_THREADS"])) == ["1", "1"]


def test_the_items_of_a_killed_worker_are_done_again_and_come_once(tmp_path: Path) -> None:
    marks = ["=0", "=1", f"{tmp_path}/dead=2", *(f"={n}" for n in range(3, 9))]
    with Pool(2) as pool:
        assert list(pool.map(killed_once, marks)) == list(range(9))
    assert (tmp_path / "dead").exists()


def test_what_kills_every_worker_is_given_up_with_a_clear_error() -> None:
    with Pool(1) as pool, pytest.raises(EngineError, match="died 3 times over the same work"):
        list(pool.map(id, [Deadly()]))


def test_ctrl_c_leaves_no_process_behind() -> None:
    pids: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted(pids)
    assert len(pids) == 4
    assert not any(alive(pid) for pid in pids)


def _interrupted(pids: list[int]) -> None:
    """Both workers sleep for longer than the test may take when Ctrl-C is pressed."""
    with Pool(2) as pool:
        pids += pool.map(own_pid, range(4))
        slow = pool.map(own_sleep, [600.0] * 4)
        Timer(0.5, signal.pthread_kill, [main_thread().ident, signal.SIGINT]).start()
        next(slow)


def own_sleep(seconds: float) -> None:
    time.sleep(seconds)


def own_pid(_: int) -> int:
    return os.getpid()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "workers", "said"),
    [
        ("dask", None, "no engine named 'dask'; known: in-process, pool, ray"),
        ("pool", 0, "workers 0: expected a number from 1 to 1,024"),
        ("in-process", 2, "the engine in-process has one"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(name: str, workers: int | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        engine_of(name, workers)
