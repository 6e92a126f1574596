"""Who works on runs: one process a database, the oldest first; what a dead one left is begun anew, to the same bits."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit.attributors import Attribution, Term
from trajcredit.batching import Batch
from trajcredit.registry import attributors
from trajcredit.service import executing, plugins
from trajcredit.service.asking import of_spec
from trajcredit.service.exporting import export
from trajcredit.service.rewarding import late
from trajcredit.service.runner import Runner, see_through
from trajcredit.service.running import ENDED, RunView, Wanted, ask_for, cancel, find
from trajcredit.store import Store, open_store, run_credits, runs
from trajcredit.store.sole import sole_runner

ROOT = Path(__file__).parent.parent.parent
LONG = 60.0
"""Seconds that a test waits for a thread before it gives up."""


def asked(store: Store, spec: str = "grpo") -> str:
    return ask_for(store, PROJECT, of_spec(spec), Wanted()).id


def rows(store: Store, run: str) -> bytes:
    out = io.BytesIO()
    export(store, PROJECT, run, plugins.exporter_of("jsonl"), out)
    return out.getvalue().replace(run.encode(), b"RUN")


def ended(store: Store, run: str) -> RunView:
    """The run once it has ended, which somebody else sees to."""
    give_up = time.monotonic() + LONG
    while (found := find(store, PROJECT, run)).state not in ENDED:
        assert time.monotonic() < give_up, f"still {found.state}"
        time.sleep(0.02)
    return found


@contextmanager
def working(store: Store) -> Iterator[Runner]:
    runner = Runner(store)
    runner.start()
    try:
        yield runner
    finally:
        runner.stop()


def test_the_runner_works_on_what_is_queued_oldest_first(store: Store) -> None:
    send(store, rollout("a"), rollout("b", 0.0))
    waiting = [asked(store), asked(store, "dag"), asked(store, "rtg")]
    with working(store) as runner:
        done = [ended(store, run) for run in waiting]
        later = asked(store)
        runner.wake()
        done.append(ended(store, later))
    assert {run.state for run in done} == {"done"}
    assert sorted(run.finished or "" for run in done) == [run.finished for run in done]


def test_who_sees_a_run_through_hears_how_far_it_is(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "PIECE_SPANS", 8)
    send(store, *(rollout(f"t{n}", n) for n in range(5)))
    said: list[tuple[int, int]] = []
    run = see_through(store, PROJECT, asked(store), lambda done, total: said.append((done, total)))
    assert (run.state, said) == ("done", [(0, 5), (2, 5), (4, 5), (5, 5)])


def test_credit_does_not_depend_on_the_pieces_it_is_kept_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    send(store, *(rollout(f"t{n}", n % 3, group=f"g{n % 2}") for n in range(7)))
    whole = {spec: rows(store, scored(store, spec).id) for spec in ("grpo", "dag")}
    for piece in (1, 5, 9):
        monkeypatch.setattr(executing, "PIECE_SPANS", piece)
        assert {spec: rows(store, scored(store, spec).id) for spec in ("grpo", "dag")} == whole


def test_a_run_that_somebody_else_works_on_is_waited_for(store: Store, url: str) -> None:
    send(store, rollout("a"), rollout("b", 0.0))
    with open_store(url) as other, working(other):
        run = see_through(store, PROJECT, asked(store), lambda done, total: None)
    assert run.state == "done"


def test_only_one_works_on_a_database_at_a_time(store: Store, url: str) -> None:
    send(store, rollout("a"))
    with open_store(url) as other, sole_runner(store) as first:
        with sole_runner(other) as second:
            assert (first, second) == (True, False)
        with working(other):
            run = asked(store)
            time.sleep(0.1)
            assert find(store, PROJECT, run).state == "queued"


def test_a_run_is_stopped_between_two_pieces(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "PIECE_SPANS", 4)
    send(store, *(rollout(f"t{n}", n) for n in range(6)))
    run = asked(store)

    def stop(done: int, total: int) -> None:
        if done == 2:
            cancel(store, PROJECT, run)

    found = see_through(store, PROJECT, run, stop)
    assert (found.state, found.done) == ("cancelled", 2)


def test_a_reward_that_comes_while_it_runs_makes_it_stale(store: Store) -> None:
    send(store, rollout("a"), rollout("b", 0.0))

    def reward(done: int, total: int) -> None:
        if done == 0:
            late(store, PROJECT, b'{"trajectory": "ext:a", "value": 0.5}')

    found = see_through(store, PROJECT, asked(store), reward)
    assert (found.state, found.stale_reason) == ("done", "a reward came later")
    assert b'"outcome":1.0' in rows(store, found.id), "it holds what it read"


# ---------------------------------------------------------------- failures


@dataclass(frozen=True)
class Broken:
    """Fails as code of others does."""

    how: str = "raise"
    """What it does."""
    needs: ClassVar = ()
    scope: ClassVar = "group"

    def __call__(self, batch: Batch) -> Attribution:
        if self.how == "exit":
            raise SystemExit(3)
        if self.how == "inf":
            wrong = np.where(batch.action_mask, np.inf, np.nan)
            return Attribution(credit=wrong, advantage=wrong)
        raise ZeroDivisionError("text of the log")

    def explain(self, batch: Batch, span: int) -> tuple[Term, ...]:
        return ()


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        pytest.param("broken", "attributor 'broken' failed: ZeroDivisionError: text of the log", id="it raises"),
        pytest.param("broken:how=exit", "attributor 'broken' failed: SystemExit: 3", id="it wants to end us"),
        pytest.param("broken:how=inf", "attributor 'broken' gave credit inf to span ", id="it gives no number"),
        pytest.param("gae", "gae needs a critic's values", id="a column that nobody filled"),
    ],
)
def test_an_attributor_that_fails_fails_its_run_and_the_next_one_works(
    store: Store, spec: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attributors, "_plugins", {**attributors.items(), "broken": Broken})
    send(store, rollout("a"), rollout("b", 0.0))
    with working(store) as runner:
        run, next_one = asked(store, spec), asked(store)
        runner.wake()
        found = ended(store, run)
        assert found.state == "failed"
        assert why in (found.error or "")
        assert ended(store, next_one).state == "done"


def test_what_nobody_foresaw_fails_the_run_without_its_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen(*_: object) -> Callable[[], None]:
        raise KeyError("text of the log")

    monkeypatch.setattr(executing, "assemble", unforeseen)
    send(store, rollout("a"))
    found = see_through(store, PROJECT, asked(store), lambda done, total: None)
    assert (found.state, found.error) == ("failed", "internal error: KeyError; the server's log has more")


# ---------------------------------------------------------------- death


DIE = """
import os, signal, sys
from trajcredit.service import executing, runner
from trajcredit.store import open_store
executing.PIECE_SPANS = 4
def die(done, total):
    if done == 3:
        os.kill(os.getpid(), signal.SIGKILL)
with open_store(sys.argv[1]) as store:
    runner.see_through(store, "default", sys.argv[2], die)
"""


def left_behind(store: Store, url: str, spec: str = "grpo") -> str:
    """A run whose process was killed with half of its credit kept."""
    run = asked(store, spec)
    done = subprocess.run(
        [sys.executable, "-c", DIE, url, run], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == -9, done.stderr
    found = find(store, PROJECT, run)
    assert (found.state, found.done) == ("running", 3)
    return run


def test_a_run_whose_process_was_killed_is_begun_anew_and_gives_the_same_bits(store: Store, url: str) -> None:
    send(store, *(rollout(f"t{n}", n % 2, group="g") for n in range(6)))
    expected = rows(store, scored(store).id)
    run = left_behind(store, url)
    with store.read() as conn:
        assert len(list(run_credits.each(conn, PROJECT, run))) == 3
    with working(store):
        assert ended(store, run).state == "done"
    assert rows(store, run) == expected


def test_it_sees_the_rewards_there_are_when_it_begins_anew(store: Store, url: str) -> None:
    send(store, *(rollout(f"t{n}", n % 2, group="g") for n in range(6)))
    run = left_behind(store, url)
    late(store, PROJECT, b'{"trajectory": "ext:t0", "value": 1}')
    again = see_through(store, PROJECT, run, lambda done, total: None)
    assert (again.state, again.stale, again.done) == ("done", False, 6)
    assert rows(store, run) == rows(store, scored(store).id)


def test_a_run_left_behind_can_be_cancelled(store: Store, url: str) -> None:
    send(store, *(rollout(f"t{n}", n % 2) for n in range(6)))
    run = left_behind(store, url)
    assert cancel(store, PROJECT, run).state == "cancelled"
    with working(store):
        assert ended(store, asked(store)).state == "done"
    assert find(store, PROJECT, run).state == "cancelled"


RUN = "import sys; from trajcredit.cli import main; sys.argv[0] = 'trajcredit'; main()"


def test_two_processes_that_run_at_once_each_end_with_their_own(store: Store, url: str) -> None:
    send(store, *(rollout(f"t{n}", n % 2, group="g") for n in range(6)))
    every = [
        subprocess.Popen(
            [sys.executable, "-c", RUN, "run", spec, "--db", url],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for spec in ("grpo", "dag", "grpo", "rtg")
    ]
    for process in every:
        said, complaints = process.communicate(timeout=240)
        assert process.returncode == 0, complaints
        assert said.endswith(": done, 6 of 6 trajectories\n")
    with store.read() as conn:
        found = runs.page(conn, PROJECT).runs
    assert [run.state for run in found] == ["done"] * 4
    first, second = (run.id for run in found if run.asked.attributor == "grpo")
    assert rows(store, first) == rows(store, second)
