"""Judgings that stopped half-way: runs that heard them, and counts once nothing is left to ask about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest

from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit import registry
from trajcredit.errors import StoreError
from trajcredit.judges import Basis, Case, Means, Verdict
from trajcredit.service import judgings
from trajcredit.service.judge_work import SAID_MORE, judge
from trajcredit.service.running import find as find_run
from trajcredit.store import Store, trajectories
from trajcredit.store import judgings as kept
from trajcredit.store.opinions import StoredAnswers

ROLLOUTS = [rollout(f"t{n}", n % 2, f"answer {n}") for n in range(4)]


@dataclass(frozen=True)
class Scripted:
    """Says the same of every trajectory; of some it says why not, and before others it does something."""

    scale: ClassVar[str] = "credit"
    segments: ClassVar[str] = "action"
    local: ClassVar[bool] = False
    asks_model: ClassVar[bool] = True  # so that each opinion is kept the moment it comes
    away: ClassVar[set[str]] = set()
    asked: ClassVar[list[str]] = []
    dies_before: ClassVar[str | None] = None
    dies_after: ClassVar[str | None] = None

    def basis(self, means: Means) -> Basis:
        return Basis("scripted")

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        for case in cases:
            name = case.graph.trajectory.id
            if name == self.dies_before:
                raise KeyboardInterrupt  # as abrupt as a process that is killed: nobody notes that it ended
            self.asked.append(name)
            means.answers.put(name, b"paid for")
            scores = (0.5,) * len(case.segments)
            yield Verdict(scores, 0.0, missing="nobody answers" if name in self.away else None)
            if name == self.dies_after:
                raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.judges._plugins, "scripted", Scripted)
    monkeypatch.setattr(Scripted, "away", set())
    monkeypatch.setattr(Scripted, "asked", [])
    monkeypatch.setattr(Scripted, "dies_before", None)


def asked(store: Store) -> str:
    return judgings.ask(store, PROJECT, "scripted", {}, {}).id


def worked(store: Store) -> judgings.JudgingView:
    """The oldest queued judging, worked on here."""
    with store.write() as conn:
        found = kept.claim(conn)
    assert found is not None
    judge(store, found, {})
    return judgings.find(store, PROJECT, found.id)


def test_nothing_is_said_to_be_missing_once_what_was_missing_is_deleted(store: Store) -> None:
    send(store, *ROLLOUTS)
    Scripted.away.update(("t1", "t2"))
    judging = asked(store)
    first = worked(store)
    assert (first.state, first.judged, first.missing, first.total) == ("incomplete", 2, 2, 4)
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:t1")
        trajectories.delete(conn, PROJECT, "ext:t2")
    judgings.resume(store, PROJECT, judging)
    second = worked(store)
    assert (second.state, second.judged, second.missing, second.total) == ("done", 2, 0, 2)
    assert Scripted.asked == ["t0", "t1", "t2", "t3"]


def half_heard(store: Store) -> tuple[str, str]:
    """A judging that was resumed, and a run that heard what it had said before: of t0 and of no other."""
    send(store, *ROLLOUTS)
    Scripted.away.update(("t1", "t2", "t3"))
    judging = asked(store)
    assert worked(store).judged == 1
    early = scored(store, f"judge:judge={judging}")
    assert early.stale_reason is None
    Scripted.away.clear()
    judgings.resume(store, PROJECT, judging)
    return judging, early.id


def test_a_run_is_out_of_date_though_the_process_died_that_said_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging, early = half_heard(store)
    monkeypatch.setattr(Scripted, "dies_before", "t2")
    with pytest.raises(KeyboardInterrupt):
        worked(store)
    found = judgings.find(store, PROJECT, judging)
    assert (found.state, found.judged) == ("running", 2)
    assert find_run(store, PROJECT, early).stale_reason == SAID_MORE


def test_a_run_is_out_of_date_though_it_died_after_the_last_opinion(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging, early = half_heard(store)
    monkeypatch.setattr(Scripted, "dies_after", "t3")
    with pytest.raises(KeyboardInterrupt):
        worked(store)
    assert judgings.find(store, PROJECT, judging).judged == 4
    with store.write() as conn:
        assert kept.requeue(conn) == 1
    late = scored(store, f"judge:judge={judging}")
    asked_so_far = len(Scripted.asked)
    assert worked(store).state == "done"
    assert len(Scripted.asked) == asked_so_far
    assert find_run(store, PROJECT, early).stale_reason == SAID_MORE
    assert find_run(store, PROJECT, late.id).stale_reason is None


def test_a_run_is_as_it_was_where_nobody_answered_again(store: Store) -> None:
    _, early = half_heard(store)
    Scripted.away.update(("t1", "t2", "t3"))
    assert worked(store).state == "incomplete"
    assert find_run(store, PROJECT, early).stale_reason is None


def test_a_database_that_is_away_for_a_moment_is_no_fault_of_the_judge(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, *ROLLOUTS)
    put = StoredAnswers.put

    def away_once(self: StoredAnswers, key: str, answer: bytes) -> None:
        if key == "t2" and Scripted.asked.count("t2") == 1:
            raise StoreError("the database is locked")
        put(self, key, answer)

    monkeypatch.setattr(StoredAnswers, "put", away_once)
    judging = asked(store)
    with pytest.raises(StoreError):
        worked(store)
    found = judgings.find(store, PROJECT, judging)
    assert (found.state, found.judged, found.missing) == ("running", 2, 0)
    with store.write() as conn:
        assert kept.requeue(conn) == 1
    found = worked(store)
    assert (found.state, found.judged, found.missing) == ("done", 4, 0)
    assert Scripted.asked == ["t0", "t1", "t2", "t2", "t3"]
