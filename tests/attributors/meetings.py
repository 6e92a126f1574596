"""Rollouts that meet: few calls, few results, so that states, calls and changes are shared now and then.

told("u c1 r:x b2 r:ok a", 1.0)      user, look(1) -> "x", book(2) -> "ok" (which changes state), answer; outcome 1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.build import run
from tests.laws import reward
from trajcredit.batching import Batch
from trajcredit.model import Tool, Trajectory

__all__ = ["measured", "meetings", "steps_by_hand", "told"]

TOOLS = [Tool(name="look", writes=False), Tool(name="book", writes=True)]
NAMES = {"c": "look", "b": "book"}


def told(story: str, outcome: float | None = None, **given: Any) -> Trajectory:
    """A run (build.run) from words: c1 looks 1 up, b1 books 1, r:text is a result, u:text a user; t, a as they are."""
    words = story.split()
    kinds = "".join("c" if word[0] == "b" else word[0] for word in words)
    made = run(kinds, outcome, **given)
    spans = list(made.spans)
    asked: list[str] = []
    for i, word in enumerate(words):
        if word[0] in NAMES:
            spans[i] = msgspec.structs.replace(spans[i], name=NAMES[word[0]], arguments={"x": word[1:]})
            asked.append(NAMES[word[0]])
        elif word[0] == "r":
            call = spans[i].result_of
            name = spans[call].name if call is not None else None
            spans[i] = msgspec.structs.replace(spans[i], name=name, text=word[2:])
        elif ":" in word:
            spans[i] = msgspec.structs.replace(spans[i], text=word[2:])
    return msgspec.structs.replace(made, spans=spans, tools=TOOLS)


@st.composite
def meetings(draw: st.DrawFn, groups: Sequence[str] = ("x", "y")) -> list[Trajectory]:
    """A few scored and unscored rollouts of up to two tasks, interleaved; calls that use others; some with values."""
    step = st.sampled_from(
        ["c1 r:x", "c1 r:y", "c2 r:x", "b1 r:ok", "b2 r:ok", "t c1 r:x", "c1 c2 r:x r:y", "a u:more"]
    )
    runs = []
    for i in range(draw(st.integers(1, 6))):
        words = ["u:do", *draw(st.lists(step, max_size=4)), *draw(st.sampled_from([[], ["a"], ["t", "a"]]))]
        story = " ".join(words)
        kinds = [word[0] for word in story.split()]
        n = len(kinds)
        kind = draw(st.sampled_from(["whole", "whole", "steps", "none"]))
        pairs = [(i, k) for k in range(n) for i in range(k) if kinds[i] in "rcb" and kinds[k] in "cba"]
        edges = draw(st.sets(st.sampled_from(pairs), max_size=6)) if pairs else set()
        runs.append(
            told(
                story,
                draw(reward) if kind == "whole" else None,
                name=f"t{i}",
                group=draw(st.sampled_from(groups)),
                rewards={j: draw(reward) for j in range(1, n)} if kind == "steps" else None,
                values=[draw(st.floats(-9, 0)) for _ in range(n)] if draw(st.integers(0, 3)) else None,
                edges=[(parent, child, draw(st.sampled_from([0.2, 1.0]))) for parent, child in sorted(edges)],
            )
        )
    return runs


def measured(batch: Batch) -> Batch:
    """The batch with its values for log-probs of the known answer."""
    return replace(batch, info=batch.values)


def steps_by_hand(batch: Batch, t: int) -> Iterator[tuple[int, list[int], float]]:
    """State, action spans and reward of every turn of a trajectory."""
    turns: dict[int, list[int]] = {}
    for i in range(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1])):
        if batch.action_mask[i]:
            turns.setdefault(int(batch.turn[i]), []).append(i)
    for spans in turns.values():
        yield int(batch.state_key[spans[0]]), spans, sum(float(batch.rewards[i]) for i in spans)
