"""The three engines: the same results in the same order, errors as they are, a killed worker's task begun again."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engines import work
from tests.engines.some import EVERY, RAY, SEVERAL, pool, ray, some
from trajcredit.engines import ATTEMPTS, NAMES, Engine, engine
from trajcredit.engines.base import cores
from trajcredit.errors import EngineError, InputError, ParseError, UnknownNameError

__all__ = ["pool", "ray", "some"]


@pytest.mark.parametrize("some", EVERY, indirect=True)
def test_results_come_in_the_order_of_the_tasks(some: Engine) -> None:
    assert list(some.map(work.squared, iter(range(23)))) == [n * n for n in range(23)]
    assert list(some.map(work.squared, [])) == []


@pytest.mark.parametrize("some", EVERY, indirect=True)
def test_what_work_raises_is_raised_as_it_is_when_its_turn_comes(some: Engine) -> None:
    found = some.map(work.fails_at_three, range(6))
    assert [next(found), next(found), next(found)] == [0, 1, 2]
    with pytest.raises(ParseError) as caught:
        next(found)
    assert str(caught.value) == "a.jsonl:7: no number"


@pytest.mark.parametrize("some", SEVERAL, indirect=True)
def test_work_is_done_elsewhere_with_one_thread_a_worker(some: Engine) -> None:
    found = list(some.map(work.told, range(8)))
    assert os.getpid() not in {process for process, _ in found}
    assert {threads for _, threads in found} == {"1"}


@pytest.mark.parametrize("some", SEVERAL, indirect=True)
def test_the_task_of_a_killed_worker_is_begun_again_and_counts_once(some: Engine, tmp_path: Path) -> None:
    tasks = [(str(tmp_path), n) for n in range(9)]
    assert list(some.map(work.dies_once, tasks)) == list(range(9))
    assert [path.name for path in tmp_path.iterdir()] == ["begun-2"]


@pytest.mark.parametrize("some", SEVERAL, indirect=True)
def test_a_task_at_which_workers_die_again_and_again_is_an_error(some: Engine) -> None:
    with pytest.raises(EngineError, match=f"workers died {ATTEMPTS} times"):
        list(some.map(work.dies, range(1)))
    assert list(some.map(work.squared, range(3))) == [0, 1, 4], "the engine works on"


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """It is killed at work: nobody is left behind."""
    script = (
        "import os, signal\n"
        "from tests.engines import work\n"
        "from trajcredit.engines import engine\n"
        "if __name__ == '__main__':\n"
        "    with engine('pool', 2) as pool:\n"
        "        print(*{process for process, _ in pool.map(work.told, range(8))}, flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (tmp_path / "script.py").write_text(script)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], env=environment, stdout=subprocess.PIPE, check=False, timeout=60
    )
    workers = [int(word) for word in done.stdout.split()]
    assert workers
    until = time.monotonic() + 20
    while any(_lives(process) for process in workers) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [process for process in workers if _lives(process)]


def _lives(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@RAY
def test_ray_that_cannot_be_reached_is_said_and_nobody_is_told_of_its_use(monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.import_module("ray")
    monkeypatch.setattr(package, "is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "nowhere.invalid:1")

    def away(**how: object) -> None:
        assert "address" not in how, "Ray reads the variable itself"
        raise ConnectionError("no such host")

    monkeypatch.setattr(package, "init", away)
    with (
        pytest.raises(EngineError, match="no Ray at the address that RAY_ADDRESS names: ConnectionError"),
        engine("ray"),
    ):
        pass
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_what_is_no_engine_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="dask"):
        engine("dask")
    with pytest.raises(InputError, match="workers: expected at least 1, found 0"):
        engine("pool", 0)
    with pytest.raises(InputError, match="in-process has 1 worker, not 2"):
        engine("in-process", 2)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'trajcredit\[ray\]'"):
        engine("ray")
    assert NAMES == ("in-process", "pool", "ray")
    assert cores() >= 1
