"""What to label next: disagreement first, large credit first, a tenth at random, and a tenth for two."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from tests.build import run
from tests.service.credits import credited
from tests.store.shelf import PROJECT, put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.service import labelling
from trajcredit.service.labelling import Turn
from trajcredit.store import Store
from trajcredit.store.label_queue import is_random, is_shared
from trajcredit.store.tables import trajectories


def label(store: Store, name: str, labeller: str = "ann", verdict: str | None = "culprit") -> None:
    row = {"trajectory_id": f"ext:{name}", "span_index": 1, "verdict": verdict, "labeller": labeller}
    assert labelling.give(store, PROJECT, json.dumps(row).encode()).given == 1


def names(store: Store, queue: str, labeller: str = "ann", **how: str) -> list[str]:
    """The whole queue, passing over each."""
    found: list[str] = []
    turn = labelling.next_of(store, PROJECT, labeller, queue, **how)  # type: ignore[arg-type]
    while turn.trajectory is not None:
        with store.read() as conn:
            query = select(trajectories.c.external_id).where(trajectories.c.id == turn.trajectory)
            found.append(conn.scalar(query) or "")
        turn = labelling.next_of(store, PROJECT, labeller, queue, after=turn.trajectory, **how)  # type: ignore[arg-type]
    assert turn.left == len(found)
    return found


def shares(store: Store) -> tuple[set[str], set[str]]:
    """Names of the random tenth, and of the one for two."""
    with store.read() as conn:
        name = trajectories.c.external_id
        return tuple(set(conn.scalars(select(name).where(which()))) for which in (is_random, is_shared))  # type: ignore[return-value]


@pytest.fixture
def many(store: Store) -> Store:
    """Sixty failed rollouts."""
    put(store, *(run("ucrcra", 0.0, name=f"t{n}") for n in range(60)))
    return store


def plain(store: Store, count: int) -> list[str]:
    """Some that are in neither share."""
    random, shared = shares(store)
    return [name for n in range(60) if (name := f"t{n}") not in random | shared][:count]


def test_a_tenth_is_random_the_same_for_everybody_and_in_no_other_queue(many: Store) -> None:
    random, shared = shares(many)
    assert 2 <= len(random) <= 12
    assert 2 <= len(shared) <= 12
    assert set(names(many, "random")) == random
    assert names(many, "random") == names(many, "random", "bob")
    for queue in ("disagree", "high"):
        assert set(names(many, queue)) == {f"t{n}" for n in range(60)} - random


def test_where_runs_blame_different_spans_comes_first(many: Store) -> None:
    a, b, c, d = plain(many, 4)
    first = [-0.4, -0.1, 0.0]
    credited(many, "one", {a: first, b: first, c: first, d: [-0.2, -0.2, -0.2]})
    credited(many, "two", {a: first, b: [-0.1, -0.4, 0.0], c: [0.0, -0.4, 0.0], d: first})
    credited(many, "three", {a: first, b: [0.0, 0.0, -0.5], c: first, d: [0.1, 0.1, 0.2]})
    queue = names(many, "disagree")
    assert queue[:3] == [b, c, a], "three of three differ, two of three pairs, none"
    turn = labelling.next_of(many, PROJECT, "ann", "disagree")
    assert (turn.score, turn.runs) == (1.0, 3)
    assert turn.why == "the 3 runs that single out a span all name different ones"
    label(many, b)
    turn = labelling.next_of(many, PROJECT, "ann", "disagree")
    assert turn.score == pytest.approx(2 / 3)
    assert turn.why == "of the 3 runs that single out a span, 67 % of the pairs disagree on it"
    assert turn.done == 1
    assert names(many, "disagree")[0] == c
    turn = labelling.next_of(many, PROJECT, "ann", "disagree", after=turn.trajectory)
    assert (turn.score, turn.runs) == (0.0, 3)
    turn = labelling.next_of(many, PROJECT, "ann", "disagree", after=turn.trajectory)
    assert (turn.score, turn.why) == (None, "in random order: fewer than two finished runs single out a span of it")


def test_the_largest_credit_comes_first_whatever_its_sign_and_a_newer_run_of_the_label_counts(many: Store) -> None:
    a, b, c = plain(many, 3)
    credited(many, "one", {a: [-9.0, 0.0, 0.0]})
    credited(many, "one", {a: [-0.2, 0.0, 0.0], b: [0.0, 0.7, 0.0], c: [-0.6, 0.1, 0.0]})
    assert names(many, "high")[:3] == [b, c, a]
    assert labelling.next_of(many, PROJECT, "ann", "high").why == (
        "a credit of size 0.70, in reward units, the largest in 1 run"
    )


def test_a_labelled_one_is_offered_to_one_other_person_only_where_it_is_shared(many: Store) -> None:
    random, shared = shares(many)
    [alone] = plain(many, 1)
    both = min(shared - random)
    for name in (alone, both):
        label(many, name)
    assert {alone, both}.isdisjoint(names(many, "high"))
    assert alone not in names(many, "high", "bob")
    assert both in names(many, "high", "bob")
    label(many, both, "bob")
    assert both not in names(many, "high", "cid")
    label(many, alone, verdict=None)
    assert alone in names(many, "high"), "withdrawn: it waits again"


def test_failed_runs_are_offered_unless_others_are_asked_for(store: Store) -> None:
    put(
        store, run("ucra", 0.0, name="lost"), run("ucra", 1.0, name="won"), run("ucra", name="open"), run("u", name="u")
    )
    every = [names(store, queue, result=result) for result in ("fail", "pass", "any") for queue in ("high", "random")]
    assert [set(a + b) for a, b in zip(every[::2], every[1::2], strict=True)] == [
        {"lost"},
        {"won"},
        {"lost", "won", "open"},
    ]


def test_an_empty_queue_says_so_and_wrong_questions_are_refused(store: Store) -> None:
    turn = labelling.next_of(store, PROJECT, "ann", "disagree")
    assert turn == Turn("disagree", None, None, 0, 0, 0, 0, 0, "no failed trajectory is left in this queue")
    with pytest.raises(InputError, match="expected a name"):
        labelling.next_of(store, PROJECT, " ", "disagree")
    with pytest.raises(InputError, match="no queue 'best'"):
        labelling.next_of(store, PROJECT, "ann", "best")  # type: ignore[arg-type]
    with pytest.raises(NotFoundError, match="nobody"):
        labelling.next_of(store, PROJECT, "ann", "high", after="nobody")
