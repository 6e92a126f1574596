"""What is said about a file of tokens, and that it stays small however many trajectories there are."""

from __future__ import annotations

import numpy as np

from trajcredit.model import Span, Trajectory, TurnTokens
from trajcredit.tokens import Aligned, Counted, Failure, align


def turn(name: str, ids: list[int], **more: int) -> Aligned:
    run = Trajectory(id=name, spans=[Span("assistant", 0, text="x")], turns=[TurnTokens(0, [1], ids)])
    return align(run, np.array([0.5]), "g", **more)  # type: ignore[arg-type]


def test_rows_tokens_and_places_are_counted():
    counted = Counted()
    counted.add(turn("a", [2, 3]))
    counted.add(turn("b", [2, 3, 4], max_tokens=3))
    counted.add(Aligned((), (Failure("c", 1, 2, "no"),)))
    counted.leave_out("no reward")
    assert list(counted.lines()) == [
        "2 trajectories, 2 rows: 6 tokens, 4 trained, mean advantage 0.5",
        "alignment: exact 4, re-tokenized 0 tokens; failed 1 trajectories",
        "cut at the budget: 1 tokens, 1 of them trained",
        "left out: 1 with no reward",
        "note: rows of more than 3 tokens are cut there (1 trajectories)",
        "failed: c, turn 1, span 2: no",
    ]
    assert (counted.cut_tokens, counted.cut_trained) == (1, 1)


def test_what_is_kept_does_not_grow_with_the_number_of_trajectories():
    counted = Counted()
    for i in range(200):
        counted.add(Aligned((), (Failure(str(i), 0, None, "no"),), (f"note {i}",)))
    assert len(counted.failures) == 20
    assert len(counted.notes) == 51
    assert (counted.failed, counted.notes["other notes"]) == (200, 150)
