"""`judge` is advised to read failed runs that no outcome tells anything of, and never to train on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.build import batch_of, run
from trajcredit.critics.filling import LEAST_GROUPS
from trajcredit.model import Trajectory
from trajcredit.service import attributing, plugins
from trajcredit.service.advising import READ, Advice, Question, advise
from trajcredit.service.advising_judge import MEASURED

PAGE = Path(__file__).parents[2] / "docs" / "credit.md"


def faulty(outcome: float, name: str, group: str, failing: bool = True) -> Trajectory:
    """A call that failed, or did not; a word after it."""
    plain = run("ucra", outcome, name=name, group=group, edges=[(2, 3)])
    said = {
        0: "look",
        2: "error: no such place" if failing else "a table",
        3: "That failed: there is no such place." if failing else "I looked.",
    }
    spans = [
        replace(span, text=said.get(i, span.text), error=failing if i == 2 else span.error)
        for i, span in enumerate(plain.spans)
    ]
    return replace(plain, spans=spans)


ALONE = [faulty(0.0, f"r{i}", f"g{i}", failing=i < 2) for i in range(3)]
"""Three failed runs, each of a task of its own; in two of them a call failed."""
PAIR = [faulty(0.0, "a0", "a"), faulty(1.0, "a1", "a")]
ALL_FAILED = [faulty(0.0, "b0", "b"), faulty(0.0, "b1", "b")]


def purposes(found: Advice) -> list[tuple[str, str]]:
    return [(one.attributor, one.purpose) for one in found.recommended]


def asked(found: Advice) -> Question:
    [judge] = [question for question in found.questions if "a judge" in question.question]
    return judge


def counted(found: Advice) -> tuple[object, ...]:
    judge = asked(found)
    assert judge.answer == "no", "outcomes of so few groups say nothing of its calibration"
    return tuple(judge.numbers[key] for key in ("failed_unheard", "failed_unheard_with_findings", "findings"))


@pytest.mark.parametrize(
    ("runs", "expected", "counts"),
    [
        pytest.param(ALONE, [("judge", "read")], (3, 2, 2), id="failed runs, each of its own task"),
        pytest.param(ALL_FAILED, [("judge", "read")], (2, 2, 2), id="siblings that all failed, and nobody else"),
        pytest.param(ALONE[2:], [], (1, 0, 0), id="rules find nothing"),
        pytest.param([faulty(1.0, "r", "g")], [], (0, 0, 0), id="a run that passed"),
        pytest.param([run("ua", 0.0)], [], (0, 0, 0), id="one action: nothing to choose from"),
        pytest.param(PAIR, [("rloo", "train"), (READ, "read")], (0, 0, 0), id="a sibling that passed"),
        pytest.param(
            [*PAIR, *ALL_FAILED],
            [("rloo", "train"), (READ, "read")],
            (0, 0, 0),
            id="a group that failed is held against the other tasks",
        ),
        pytest.param(
            [*PAIR, ALONE[0]],
            [("rloo", "train"), (READ, "read"), ("judge", "read")],
            (1, 1, 1),
            id="one run without a sibling",
        ),
        pytest.param(
            [ALONE[0], faulty(1.0, "c", "c")],
            [("moving_average", "train"), ("judge", "read")],
            (1, 1, 1),
            id="one rollout a task",
        ),
    ],
)
def test_where_a_judge_is_advised(
    runs: list[Trajectory], expected: list[tuple[str, str]], counts: tuple[int, ...]
) -> None:
    found = advise(batch_of(*runs))
    assert purposes(found) == expected
    assert counted(found) == counts


def test_the_words_say_that_it_is_an_opinion_to_read() -> None:
    found = advise(batch_of(*ALONE))
    [judge] = found.recommended
    assert "3 failed runs with neither siblings nor a critic" in judge.why
    assert "find 2 faults in 2 of 3" in judge.why
    assert judge.why.endswith(
        "its calibration is not checked: scores and outcomes in 3 groups, and it takes 10: read it, do not train on it"
    )
    assert "no estimator helps here" in found.questions[1].found, "to train there is still nothing"


def test_a_critic_to_trust_reads_such_runs_itself() -> None:
    runs = [
        run("ua" * 6, float(i % 2), name=f"r{i}", group=f"g{i}", values=[None, float(i % 2)] * 6)
        for i in range(2 * LEAST_GROUPS)
    ]
    broken = [replace(one, spans=[replace(s, text="") for s in one.spans]) for one in runs]
    found = advise(batch_of(*broken))
    assert counted(found)[2], "rules do find something: turns that say nothing"
    assert purposes(found) == [("gae", "train")]


def _known(tells: bool) -> list[Trajectory]:
    """Twelve tasks of one rollout, whose faults tell of failure, or of nothing."""
    return [faulty(float(i % 2), f"r{i}", f"g{i}", failing=i % 2 == 0 if tells else i % 4 < 2) for i in range(12)]


def test_a_judge_that_does_not_foretell_outcomes_is_never_advised_to_train_on() -> None:
    found = advise(batch_of(*_known(tells=False)))
    assert ("judge", "read") in purposes(found)
    assert not [one for one, purpose in purposes(found) if purpose == "train" and "judge" in one]
    judge = asked(found)
    assert (judge.answer, judge.numbers["calibrated_against_base_rate"]) == ("no", "worse")
    assert "calibrated on other groups worse than the base rate" in judge.found
    assert ": to read, never to train on" in judge.found
    [read] = [one for one in found.recommended if one.attributor == "judge"]
    assert read.why.endswith("12 groups: read it, do not train on it")


def test_a_judge_that_foretells_them_once_calibrated_may_be_trained_on_calibrated() -> None:
    found = advise(batch_of(*_known(tells=True)))
    judge = asked(found)
    assert (judge.answer, judge.numbers["calibrated_against_base_rate"]) == ("yes", "better")
    assert ("judge:calibrate=true", "train") in purposes(found)
    [train] = [one for one in found.recommended if one.attributor == "judge:calibrate=true"]
    assert "calibrated on other groups better than the base rate" in train.why
    [choice] = plugins.choose([train.attributor])
    attributing.scored(batch_of(*_known(tells=True)), choice.label, choice.attributor)


def test_what_is_advised_points_at_the_call_that_failed() -> None:
    batch = batch_of(*ALONE)
    [choice] = plugins.choose([advise(batch).recommended[0].attributor])
    credit = attributing.scored(batch, choice.label, choice.attributor, choice.critic).credit
    for t in range(3):
        own = credit[batch.span_offsets[t] : batch.span_offsets[t + 1]]
        assert np.nanargmin(own) == 1 if t < 2 else not np.nan_to_num(own).any()


@pytest.mark.parametrize("part", ["whowhen", "tau_airline"])
def test_the_figures_that_are_told_stand_in_the_docs(part: str) -> None:
    text = PAGE.read_text(encoding="utf-8").partition(f"<!-- measured: {part} -->")[2].partition("<!-- end of")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    judged, flat = ([cells[2] for cells in rows if f"`{name}`" in cells[1]] for name in ("judge", "grpo"))
    [judge, grpo] = (cell.split()[0] for [cell] in (judged, flat))
    assert f"in {judge}" in MEASURED
    assert f"(flat {grpo})" in MEASURED
    assert text.splitlines()[-1].split()[0] in MEASURED, "so many runs"
