"""Blame: who is furthest from zero, with terms that add up and the edges that show why."""

from __future__ import annotations

import pytest

from tests.build import batch_of, run
from trajcredit.attributors import Attributor, Dag, Grpo, Rtg
from trajcredit.batching import Batch
from trajcredit.model import Edge, Reward, Span, Trajectory
from trajcredit.service.blame import Blame, blame
from trajcredit.service.stateless import attribute


def blamed(batch: Batch, attributor: Attributor, count: int = 5, trajectory_id: str | None = None) -> Blame:
    return blame(attribute(batch, attributor), attributor, count, trajectory_id)


def test_both_sides_are_listed_furthest_from_zero_first() -> None:
    found = blamed(batch_of(run("aa", rewards={0: -1.0, 1: 3.0}), run("a", -5.0)), Rtg())
    assert [(f.trajectory_id, f.span_index, f.advantage) for f in found.blamed] == [("t1", 0, -5.0)]
    assert [(f.trajectory_id, f.span_index, f.advantage) for f in found.praised] == [("t0", 1, 3.0), ("t0", 0, 2.0)]


def test_equal_ones_come_in_the_order_of_the_log_and_no_more_than_asked() -> None:
    found = blamed(batch_of(run("aaa", 0.0), run("a", 1.0)), Grpo(), count=2)
    assert [f.span_index for f in found.blamed] == [0, 1]
    assert (found.negative, found.zero, found.positive) == (3, 0, 1)


def test_what_is_exactly_zero_is_neither_blamed_nor_praised() -> None:
    found = blamed(batch_of(run("a", 1.0), run("a", 1.0)), Grpo())
    assert (found.blamed, found.praised, found.zero) == ((), (), 2)


def test_unscored_spans_are_not_counted() -> None:
    found = blamed(batch_of(run("ua", None)), Grpo())
    assert (found.negative, found.zero, found.positive) == (0, 0, 0)


def test_one_trajectory_is_shown_but_scored_against_its_whole_group() -> None:
    found = blamed(batch_of(run("a", 0.0), run("a", 1.0)), Grpo(), trajectory_id="t1")
    assert (found.negative, found.positive) == (0, 1)
    assert found.praised[0].credit == 0.5


def test_reasons_add_up_and_name_spans_of_siblings_too() -> None:
    [finding] = blamed(batch_of(run("ua", 0.0), run("ua", 1.0)), Grpo()).blamed
    assert sum(reason.value for reason in finding.reasons) == pytest.approx(finding.credit, abs=1e-6)
    assert {place.trajectory_id for reason in finding.reasons for place in reason.spans} == {"t0", "t1"}


def test_a_call_is_used_by_whoever_uses_its_result() -> None:
    spans = [
        Span(kind="user", turn=-1, text="find the order of Ada"),
        Span(kind="tool_call", turn=0, name="find", arguments={"customer": "Ada"}),
        Span(kind="tool_result", turn=0, name="find", text='{"order": "ORD-77120"}', result_of=1),
        Span(kind="tool_call", turn=1, name="cancel", arguments={"order": "ORD-77120"}),
        Span(kind="tool_result", turn=1, name="cancel", text='{"status": "ok"}', result_of=3),
    ]
    lost = Trajectory(id="lost", group="g", rewards=[Reward(0.0)], spans=spans, terminated=True)
    found = blamed(batch_of(lost, run("a", 1.0, name="won")), Dag())
    by_index = {finding.span_index: finding for finding in found.blamed}
    assert set(by_index) == {1, 3}
    assert [(link.span_index, link.name) for link in by_index[1].used_by] == [(3, "cancel")]
    assert [(link.span_index, link.kind) for link in by_index[3].uses] == [(2, "tool_result")]
    assert "ORD-77120" in by_index[3].uses[0].why


def test_explicit_edges_are_no_data_edges() -> None:
    one = Trajectory(
        id="one",
        spans=[Span(kind="assistant", turn=0), Span(kind="assistant", turn=1)],
        rewards=[Reward(1.0)],
        edges=[Edge(0, 1, "explicit")],
    )
    found = blamed(batch_of(one), Rtg())
    assert all(finding.uses == finding.used_by == () for finding in found.praised)
