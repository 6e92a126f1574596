"""The sentence over a transcript, branch by branch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from trajcredit.service.headline import Picture, Siblings, headline, not_read, not_scored
from trajcredit.service.wording import count, plain, share, signed
from trajcredit.store.filters import Filters
from trajcredit.store.runs import Asked, Run

NAMES = ("s0 reasoning", "s1 message", "s2 search", "s3 pay", "s4 pay", "s5 message")


def said(credit: list[float], law: str, total: float | None = None, **more: Any) -> str:
    on_path = more.pop("on_path", None)
    picture = Picture(
        credit=np.array(credit),
        names=NAMES[: len(credit)],
        law=law,  # type: ignore[arg-type]
        total=total,
        outcome=more.pop("outcome", 1.0),
        on_path=None if on_path is None else np.array(on_path),
        **more,
    )
    return headline(picture)


def group(*outcomes: float, size: int | None = None) -> Siblings:
    return Siblings(len(outcomes) if size is None else size, np.array(outcomes))


YES, NO = True, False

FLAT = [
    ([-0.5] * 3, {}, "flat: every action span gets -0.50; this run cannot tell which call was wrong"),
    ([0.5] * 3, {}, "flat: every action span gets +0.50; this run cannot tell which call earned it"),
    (
        [-0.5] * 3,
        {"has_calls": False},
        "flat: every action span gets -0.50; this run cannot tell which span was wrong",
    ),
    ([-0.5], {}, "there is only one action span, s0 reasoning: it gets -0.50"),
    (
        [-0.5] * 3,
        {"on_path": [YES] * 3},
        "all 3 action spans are on a path to the outcome and get -0.50 each: this run clears none of them",
    ),
    (
        [0.5] * 2,
        {"on_path": [YES] * 2},
        "both action spans are on a path to the outcome and get +0.50 each: this run tells none of them apart",
    ),
    ([0.0] * 2, {"on_path": [NO] * 2}, "no action span is on a path to the outcome: every action span gets 0.00"),
    ([-0.15] * 2, {"on_path": [NO] * 2}, "no action span is on a path to the outcome: every action span keeps -0.15"),
    ([0.0], {"on_path": [NO]}, "no action span is on a path to the outcome: its only action span gets 0.00"),
    ([0.0] * 2, {}, "flat: every action span gets 0.00; this run neither blames nor praises any"),
    ([0.0] * 2, {"outcome": 0.0}, "the outcome is 0.00, and every action span gets 0.00"),
    (
        [0.0] * 2,
        {"siblings": group(1.0)},
        "alone in its group: there is no sibling to hold it against, so every action span gets 0.00",
    ),
    (
        [0.0] * 2,
        {"siblings": group(1.0, size=4)},
        "the only scored rollout of its group of 4: nothing to hold it against, so every action span gets 0.00",
    ),
    (
        [0.0] * 2,
        {"siblings": group(1.0, 1.0, 1.0, 1.0)},
        "all 4 rollouts of its group ended at 1.00: nothing tells them apart, so every action span gets 0.00",
    ),
    (
        [0.0],
        {"siblings": group(0.0, 0.0, size=3)},
        "both scored rollouts of its group ended at 0.00: nothing tells them apart, so its only action span gets 0.00",
    ),
    (
        [0.0] * 2,
        {"siblings": group(0.0, 0.5, 1.0), "outcome": 0.5},
        "its outcome of 0.50 is the mean of its group, so every action span gets 0.00",
    ),
    (
        [-0.5] * 2,
        {"unscored": 1},
        "flat: every action span gets -0.50; this run cannot tell which call was wrong; 1 action span is not scored",
    ),
]


@pytest.mark.parametrize(("credit", "more", "sentence"), FLAT)
def test_one_number_for_all(credit: list[float], more: dict[str, Any], sentence: str) -> None:
    assert said(credit, "flat", credit[0], **more) == sentence


MASKS = [
    ([-0.5, 0.0, -0.5, -0.5, 0.0, -0.5], None, "4 of 6 action spans carry the blame, 2 get exactly 0"),
    ([0.5, 0.0, 0.0], None, "1 of 3 action spans carries the credit, 2 get exactly 0"),
    (
        [-0.5, 0.0, -0.5],
        [YES, NO, YES],
        "2 of 3 action spans carry the blame, 1 gets exactly 0: no path leads from it to the outcome",
    ),
    (
        [0.5, 0.0, 0.0],
        [YES, NO, NO],
        "1 of 3 action spans carries the credit, 2 get exactly 0: no path leads from them to the outcome",
    ),
    (
        [-0.45, 0.0, -0.5],
        [YES, NO, YES],
        "2 of 3 action spans carry the blame, -0.45 to -0.50 each, 1 gets exactly 0: "
        "no path leads from it to the outcome",
    ),
    ([-0.4, -0.45, -0.5], [YES] * 3, "all 3 action spans are on a path to the outcome: they get -0.40 to -0.50 each"),
    (
        [-0.5, -0.15, -0.5],
        [YES, NO, YES],
        "2 of 3 action spans carry the blame, -0.50 each; 1 is off every path and keeps -0.15",
    ),
    (
        [0.5, 0.15, 0.15],
        [YES, NO, NO],
        "1 of 3 action spans carries the credit, +0.50; 2 are off every path and keep +0.15 each",
    ),
    ([0.0, 0.0, 0.5], [YES, NO, YES], "1 of 3 action spans carries the credit, 2 get exactly 0"),
]


@pytest.mark.parametrize(("credit", "on_path", "sentence"), MASKS)
def test_one_number_times_a_mask(credit: list[float], on_path: list[bool] | None, sentence: str) -> None:
    total = min(credit) if min(credit) < 0 else max(credit)
    assert said(credit, "mask", total, on_path=on_path) == sentence


SHARES = [
    ([-0.06, -0.04, -0.36, -0.04], -0.5, None, "s2 search carries 72 % of the negative credit (-0.36)"),
    ([0.1, -0.1, 0.5], 0.5, None, "s2 search carries 83 % of the positive credit (+0.50)"),
    ([-0.3, 0.4], None, None, "s1 message carries all of the positive credit (+0.40)"),
    ([-0.5, 0.4], None, None, "s0 reasoning carries all of the negative credit (-0.50)"),
    ([-0.3, 0.3], 0.0, None, "s0 reasoning carries all of the negative credit (-0.30)"),
    ([0.3, 0.1], -0.2, None, "s0 reasoning carries 75 % of the positive credit (+0.30)"),
    ([2.0, 2.0, 1.0], None, None, "s0 reasoning and 1 other carry the most positive credit, +2.00 each"),
    ([2.0, 2.0, 2.0, 1.0], None, None, "s0 reasoning and 2 others carry the most positive credit, +2.00 each"),
    (
        [-0.4, -0.1, 0.0],
        -0.5,
        None,
        "s0 reasoning carries 80 % of the negative credit (-0.40); 1 action span gets exactly 0",
    ),
    (
        [-0.4, -0.1, 0.0, 0.0],
        -0.5,
        [YES, YES, NO, NO],
        "s0 reasoning carries 80 % of the negative credit (-0.40); 2 action spans are off the path and get exactly 0",
    ),
    (
        [-0.4, -0.1, 0.0],
        -0.5,
        [YES, YES, NO],
        "s0 reasoning carries 80 % of the negative credit (-0.40); 1 action span is off the path and gets exactly 0",
    ),
    (
        [-0.4, -0.1, 0.0, 0.0],
        -0.5,
        [YES, YES, YES, NO],
        "s0 reasoning carries 80 % of the negative credit (-0.40); 2 action spans get exactly 0",
    ),
]


@pytest.mark.parametrize("law", ["shared", "free"])
@pytest.mark.parametrize(("credit", "total", "on_path", "sentence"), SHARES)
def test_shares(law: str, credit: list[float], total: float | None, on_path: Any, sentence: str) -> None:
    assert said(credit, law, total, on_path=on_path) == sentence


RUN = Run(
    id="r",
    project="default",
    asked=Asked(attributor="grpo", label="grpo", parameters={}, code_version="1", edge_version="1"),
    reward_used="verifier",
    watermark=0,
    state="done",
    done=1,
    total=1,
    error=None,
    notes=(),
    stale=None,
    created="2026-01-02",
    started="2026-01-02",
    finished="2026-01-02",
)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("queued", "this run has not begun: nothing is scored yet"),
        ("running", "this run is at work and has not come to this trajectory yet"),
        ("failed", "this run failed before it scored this trajectory: a new run would read it"),
        ("cancelled", "this run was cancelled before it scored this trajectory: a new run would read it"),
        ("done", "this run did not read this trajectory: a new run would"),
    ],
)
def test_a_trajectory_that_a_run_did_not_read(state: Any, sentence: str) -> None:
    assert not_read(replace(RUN, state=state), None, "2026-01-01") == sentence


def test_a_trajectory_that_came_later_or_lies_elsewhere() -> None:
    assert not_read(RUN, None, "2026-01-03") == (
        "this trajectory was stored after this run had begun, so the run did not read it: a new run would"
    )
    narrow = replace(RUN, asked=replace(RUN.asked, filters=Filters(dataset="a")))
    assert not_read(narrow, "b", "2026-01-03") == (
        "this run read another data set, so it did not read this trajectory: a new run without that choice would"
    )
    assert not_read(narrow, "a", "2026-01-01") == "this run did not read this trajectory: a new run would"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((0, None, "verifier", True, None), "no action spans in this trajectory: nothing in it can get credit"),
        (
            (2, None, "verifier", False, None),
            "not scored: it has no reward from the verifier, and is left out of the baseline of its group",
        ),
        (
            (2, None, "reward model", False, None),
            "not scored: it has no reward from the reward model, and is left out of the baseline of its group",
        ),
        ((2, None, None, False, None), "not scored: no trajectory of this run had a reward"),
        (
            (2, None, "verifier", True, None),
            "not scored: its reward came after this run had read its inputs; a new run would score it",
        ),
        ((2, 1.0, "verifier", False, "2 steps have no value"), "not scored: 2 steps have no value"),
        ((2, 1.0, "verifier", False, None), "not scored: this run gave none of its action spans a number"),
    ],
)
def test_a_trajectory_without_a_number(given: Any, sentence: str) -> None:
    assert not_scored(*given) == sentence


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (-0.5, "-0.50"),
        (0.5, "+0.50"),
        (-0.004, "-0.004"),
        (-0.00001, "-1e-05"),
        (12345.6, "+12346"),
        (-2.5e7, "-2.5e+07"),
        (-0.005, "-0.01"),
    ],
)
def test_numbers_have_a_sign_and_only_zero_looks_like_zero(value: float, text: str) -> None:
    assert signed(value) == text


def test_other_words() -> None:
    assert (plain(0.5), plain(-0.5)) == ("0.50", "-0.50")
    assert [share(part) for part in (1.0, 0.9999, 0.72, 0.01, 0.0099)] == [
        "all of",
        "99 % of",
        "72 % of",
        "1 % of",
        "less than 1 % of",
    ]
    assert (count(1, "action span"), count(1200, "action span")) == ("1 action span", "1,200 action spans")
