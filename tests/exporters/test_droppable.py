"""A trajectory that the trainer's file cannot hold stops the export with its place, or is left out and counted."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

import trajcredit as tc
from trajcredit.errors import InputError
from trajcredit.exporters import Exported
from trajcredit.model import Reward, Span, SpanTokens, Trajectory, TurnTokens
from trajcredit.service.plugins import exporter_of


def rollout(name: str, rewards: tuple[float, float], logprobs: bool = True) -> Trajectory:
    """One turn of thinking and an answer, cut by their ids; a reward on each."""
    given = [-1.0, -1.0, -1.0] if logprobs else None
    return Trajectory(
        id=name,
        group="g",
        rewards=[Reward(value, span=span) for span, value in enumerate(rewards, 1)],
        spans=[
            Span("user", -1, text="hi"),
            Span("reasoning", 0, text="hm", tokens=SpanTokens([20])),
            Span("assistant", 0, text="yes", tokens=SpanTokens([21, 22])),
        ],
        turns=[TurnTokens(0, [7, 8], [20, 21, 22], given)],
        terminated=True,
    )


def exported(spec: str, *runs: Trajectory) -> tuple[Exported, list[Any]]:
    out = io.BytesIO()
    done = exporter_of(spec)([tc.attribute(tc.batch(runs), "rtg", gamma=1.0)], out)
    return done, [json.loads(line) for line in out.getvalue().splitlines()]


EVEN = rollout("even", (0.0, 1.0))
"""Reward-to-go is 1 on both of its spans."""


@pytest.mark.parametrize(
    ("spec", "bad", "place", "reason"),
    [
        *(
            pytest.param(
                name, rollout("bad", (0.0, 1.0), logprobs=False), (0, 1), "no log-probs", id=f"{name}: log-probs"
            )
            for name in ("tinker", "prime_rl", "rllm")
        ),
        *(
            pytest.param(name, rollout("bad", (1.0, 1.0)), (0, 1), "advantages from 1 to 2", id=f"{name}: one number")
            for name in ("art", "areal")
        ),
        pytest.param(
            "areal:reward_clip=5", rollout("bad", (0.0, 9.0)), (0, 1), "cut by AReaL to 5", id="areal: clipped"
        ),
    ],
)
def test_it_is_left_out_on_request(spec: str, bad: Trajectory, place: tuple[int, int], reason: str) -> None:
    with pytest.raises(InputError, match=rf"^bad, turn 0, span 1: .*{reason}.*misaligned=drop leaves such"):
        exported(spec, EVEN, bad)
    dropped = f"{spec}{',' if ':' in spec else ':'}misaligned=drop"
    done, lines = exported(dropped, EVEN, bad)
    assert "bad" not in json.dumps(lines)
    assert done.counted is not None
    assert (done.counted.trajectories, done.counted.rows, done.counted.trained, done.counted.failed) == (1, 1, 3, 1)
    [failure] = done.counted.failures
    assert (failure.trajectory_id, failure.turn, failure.span) == ("bad", *place)
    assert reason in failure.reason
    assert "bad" not in failure.reason
    with pytest.raises(InputError, match="no row to train"):
        exported(dropped, bad)


def test_whitening_is_over_what_the_file_holds() -> None:
    """Left out before: the other two have advantages 1 and 3, whitened to -1 and 1 times one number."""
    runs = [EVEN, rollout("more", (0.0, 3.0)), rollout("bad", (0.0, 90.0), logprobs=False)]
    done, lines = exported("tinker:misaligned=drop,whiten=verl", *runs)
    assert len(lines) == 2
    assert done.counted is not None
    assert abs(done.counted.advantage_sum) < 1e-9


def test_a_whitened_number_that_areal_would_cut_stops_the_export() -> None:
    """One of many is left out no more: the numbers of all the others were made with it."""
    runs = [*(rollout(f"r{i}", (0.0, 0.0)) for i in range(8)), rollout("bad", (0.0, 90.0))]
    with pytest.raises(InputError, match=r"^bad, row 0, turn 0: an advantage of .* is cut by AReaL to 1 "):
        exported("areal:misaligned=drop,whiten=verl,reward_clip=1", *runs)
