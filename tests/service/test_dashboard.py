"""The panels of the dashboard over a store: numbers worked by hand, what is left out counted, what is missing said."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.build import run
from tests.service.scenes import PROJECT, ran
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Reward, SpanTokens, Trajectory
from trajcredit.service import dashboard_agreement, dashboard_length, dashboard_offpath, dashboard_tools, editing
from trajcredit.service.dashboard import Filters, StepBin, passes, rewards, variance
from trajcredit.service.dashboard_runs import NO_RUN, chosen
from trajcredit.service.editing import Change
from trajcredit.service.running import Wanted, ask
from trajcredit.store import Store

ALL = Filters()


def rollout(name: str, reward: float | None, group: str = "g", step: int | None = None, spans: str = "ucra"):
    return replace(run(spans, reward, name=name, group=group), step=step)


def with_tokens(one: Trajectory, *n: int | None) -> Trajectory:
    """With so many tokens on its spans."""
    spans = [replace(s, tokens=None if k is None else SpanTokens(n=k)) for s, k in zip(one.spans, n, strict=True)]
    return replace(one, spans=spans)


@pytest.fixture
def grouped(store: Store) -> Store:
    """Groups at steps 1 and 2: mixed, all fail, all pass; one of one, one without a reward."""
    put(
        store,
        *(rollout(f"m{i}", reward, "mixed", 1) for i, reward in enumerate([1.0, 0.0, 0.0, 1.0])),
        *(rollout(f"f{i}", 0.25, "failed", 1) for i in range(2)),
        *(rollout(f"p{i}", 1.0, "passed", 2) for i in range(3)),
        rollout("one", 1.0, "lone", 2),
        rollout("open", None, "unscored", 2),
    )
    return store


def test_groups_are_sorted_by_their_mean_and_paged(grouped: Store) -> None:
    panel = rewards(grouped, PROJECT, ALL, limit=3)
    assert (panel.groups, panel.rollouts, panel.scored, panel.sources) == (5, 11, 10, ("verifier",))
    assert (panel.low, panel.high, panel.next, panel.needs) == (0.0, 1.0, 3, None)
    assert [row.group for row in panel.items[:2]] == ["failed", "mixed"]
    mixed = panel.items[1]
    assert (mixed.mean, mixed.scored, mixed.passed, mixed.step) == (0.5, 4, 2, 1)
    assert mixed.sd == (4 * 0.25 / 3) ** 0.5, "of n - 1"
    assert [(one.external_id, one.reward) for one in mixed.rollouts] == [("m0", 1), ("m1", 0), ("m2", 0), ("m3", 1)]
    rest = rewards(grouped, PROJECT, ALL, start=3, limit=3)
    assert (rest.next, [row.group for row in rest.items][-1]) == (None, "unscored")
    assert {row.group for row in (*panel.items, *rest.items)} == {"failed", "mixed", "passed", "lone", "unscored"}
    assert (rest.items[-1].mean, rest.items[-1].sd, rest.items[-1].rollouts[0].reward) == (None, None, None)
    down = [row.group for row in rewards(grouped, PROJECT, ALL, "-mean").items]
    assert (down[2:], set(down[:2])) == (["mixed", "failed", "unscored"], {"passed", "lone"})
    with pytest.raises(InputError, match="limit 0: a page has 1 to 200 rows"):
        rewards(grouped, PROJECT, ALL, limit=0)


def test_a_group_is_read_by_the_most_trusted_source_that_any_of_it_has(store: Store) -> None:
    judged = replace(rollout("judged", None), rewards=[Reward(0.75, source="judge")])
    put(store, rollout("verified", 0.0), judged)
    [row] = rewards(store, PROJECT, ALL).items
    assert (row.source, row.scored, row.mean, [one.reward for one in row.rollouts]) == ("verifier", 1, 0.0, [0.0, None])
    assert passes(store, PROJECT, ALL).unscored == 1


def test_groups_without_variance_by_step(grouped: Store) -> None:
    panel = variance(grouped, PROJECT, ALL)
    assert (panel.groups, panel.all_pass, panel.all_fail, panel.too_small) == (3, 1, 1, 2)
    assert panel.share is not None
    assert (panel.share.value, panel.flagged, panel.threshold) == (2 / 3, True, 0.3)
    assert panel.bins == (
        StepBin(first=1, last=1, groups=2, all_pass=0, all_fail=1, flagged=True),
        StepBin(first=2, last=2, groups=1, all_pass=1, all_fail=0, flagged=True),
    )
    mixed = variance(grouped, PROJECT, Filters(group_name="mixed"))
    assert (mixed.groups, mixed.flagged, mixed.bins[0].flagged) == (1, False, False)


def test_groups_of_no_step_are_in_no_bin(store: Store) -> None:
    put(store, *(rollout(f"r{i}", float(i)) for i in range(2)))
    panel = variance(store, PROJECT, ALL)
    assert (panel.groups, panel.without_step, panel.bins, panel.needs) == (1, 1, (), None)


def test_pass_at_k_counts_every_group_once(grouped: Store) -> None:
    panel = passes(grouped, PROJECT, ALL)
    assert (panel.groups, panel.rollouts, panel.unscored) == (4, 10, 1)
    points = [(one.k, round(one.value, 12), one.groups, one.left_out) for one in panel.points]
    assert points == [
        (1, 0.625, 4, 0),  # 1/2, 0, 1, 1
        (2, round((5 / 6 + 0 + 1) / 3, 12), 3, 1),
        (3, 1.0, 2, 2),
        (4, 1.0, 1, 3),
    ]
    assert passes(grouped, PROJECT, Filters(step_min=2)).points[0].value == 1.0


def test_length_is_tokens_where_all_log_them(store: Store) -> None:
    made = [(0.0, 2, 7), (1.0, 5, 1), (1.0, 1, 1), (0.0, 10, 10)]
    put(
        store,
        *(
            with_tokens(rollout(f"r{i}", reward, group=f"g{i // 3}"), 50, call, 99, answer)
            for i, (reward, call, answer) in enumerate(made)
        ),
    )
    ran(store, "rtg", gamma=0.5)
    panel = dashboard_length.length(store, PROJECT, ALL)
    assert (panel.unit, panel.n, panel.with_tokens, panel.read, panel.matching) == ("tokens", 4, 4, 4, 4)
    # lengths 9 6 2 20 against rewards 0 1 1 0: ranks 3 2 1 4 against 1.5 3.5 3.5 1.5
    assert panel.overall == pytest.approx(-4 / (5 * 4) ** 0.5)
    assert (panel.within.groups, panel.within.too_small) == (1, 1)
    assert panel.within.mean is not None
    assert panel.within.mean.value == pytest.approx(-1.5 / 3**0.5)
    shortest, second = panel.deciles[:2]
    assert (shortest.shortest, shortest.longest, shortest.n, shortest.example_name) == (2, 2, 1, "r2")
    assert shortest.credit == (0.5 * 1 + 1.0 * 1) / 2
    assert second.credit == pytest.approx((0.5 * 5 + 1.0 * 1) / 6)
    assert second.scored == 6


def test_length_is_characters_where_one_logs_no_tokens(store: Store) -> None:
    told = with_tokens(rollout("told", 1.0), 1, 2, 3, 4)
    texts = [replace(span, text="x" * 7) if span.kind == "assistant" else span for span in rollout("r", 0.0).spans]
    put(store, told, replace(rollout("untold", 0.0), spans=texts))
    panel = dashboard_length.length(store, PROJECT, ALL)
    assert (panel.unit, panel.n, panel.with_tokens, panel.run) == ("characters", 2, 1, None)
    assert panel.deciles[-1].longest - panel.deciles[0].shortest == 7
    assert {tenth.credit for tenth in panel.deciles} == {None}


def test_only_the_newest_are_read_and_groups_cut_there_are_left_out(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard_length, "MOST_READ", 3)
    for i in range(5):
        put(store, with_tokens(rollout(f"r{i}", float(i % 2), group=f"g{i // 3}"), 1, i, 1, 1))
    panel = dashboard_length.length(store, PROJECT, ALL)
    assert (panel.read, panel.matching, panel.within.groups, panel.within.cut) == (3, 5, 1, 1)


def test_tools_by_their_calls(store: Store) -> None:
    put(store, *(rollout(f"r{i}", float(i % 2), group=f"g{i // 2}") for i in range(20)))
    put(store, rollout("late", 1.0, group="other"))
    ran(store, "grpo")
    put(store, rollout("after", 1.0, group="another"))
    panel = dashboard_tools.by_tool(store, PROJECT, ALL)
    [look] = panel.items
    assert (look.tool, look.calls, look.scored, look.errors, look.trajectories) == ("look", 22, 21, 0, 22)
    assert (look.mean, look.low, look.high) == (0.0, -0.5, 0.5)
    assert look.sd == pytest.approx((20 * 0.25 / 20) ** 0.5), "the call that is alone in its group gets 0"
    assert (look.negative, panel.elsewhere, look.ranked) == (0.5, 0.5, True)
    assert (panel.unread, panel.read, panel.needs) == (1, 22, None)
    few = dashboard_tools.by_tool(store, PROJECT, Filters(group_name="g0"))
    assert (few.items[0].calls, few.items[0].ranked) == (2, False)


def test_runs_agree_where_they_rank_spans_alike(store: Store) -> None:
    put(store, rollout("a", 1.0, spans="ucrcra"), rollout("b", 0.0, spans="ucra"))
    first, second = ran(store, "rtg", gamma=0.5), ran(store, "rtg", gamma=0.9)
    flat = ran(store, "grpo")
    panel = dashboard_agreement.agreement(store, PROJECT, ALL)
    assert [one.id for one in panel.runs] == [flat.id, second.id, first.id], "the newest of each label"
    assert (panel.shared, panel.judged, panel.others, panel.needs) == (2, 2, 0, None)
    of = {(panel.runs[pair.a].id, panel.runs[pair.b].id): pair for pair in panel.pairs}
    alike = of[second.id, first.id]
    assert (alike.value, alike.n, alike.flat) == (1.0, 1, 1), "of b every number is 0"
    assert alike.furthest is not None
    assert alike.furthest.external_id == "a"
    assert (of[flat.id, first.id].value, of[flat.id, first.id].flat) == (None, 2)
    named = dashboard_agreement.agreement(store, PROJECT, ALL, [first.id, "grpo", first.id])
    assert [one.id for one in named.runs] == [first.id, flat.id]


def test_runs_are_compared_on_what_all_of_them_read(store: Store) -> None:
    put(store, rollout("a", 1.0))
    ran(store, "rtg", gamma=0.5)
    put(store, rollout("b", 1.0))
    ran(store, "rtg", gamma=0.9)
    panel = dashboard_agreement.agreement(store, PROJECT, ALL)
    assert (panel.read, panel.shared, panel.judged) == (2, 1, 1)
    assert [one.total for one in panel.runs] == [2, 1]


def test_credit_off_the_path(store: Store) -> None:
    put(
        store,
        run("ucrcra", 0.0, name="bad", edges=[(4, 5)]),
        run("ucra", 1.0, name="good", edges=[(2, 3)]),
    )
    ran(store, "grpo")
    ran(store, "dag")
    dag, grpo = dashboard_offpath.off_path(store, PROJECT, ALL).items
    assert (dag.run.label, dag.share, dag.most, dag.flat, dag.compared) == ("dag", 0.0, None, 1, 2)
    assert (grpo.share, grpo.off, grpo.spans, grpo.flat) == (0.2, 1, 5, 2), "-.5 on the first call of bad, of 5 x .5"
    assert grpo.most_name == "bad"
    one = dashboard_offpath.off_path(store, PROJECT, Filters(ids=(grpo.most or "",)), ["grpo"])
    assert one.items[0].share == pytest.approx(1 / 3)


def test_credit_off_the_path_is_by_the_edges_that_each_run_saw(store: Store) -> None:
    """The same share for grpo by hand: of 5 spans one is off the path before the edit, none after it."""
    put(
        store,
        run("ucrcra", 0.0, name="bad", edges=[(4, 5)]),
        run("ucra", 1.0, name="good", edges=[(2, 3)]),
    )
    ran(store, "grpo")
    editing.edit(store, PROJECT, "ext:bad", [Change(1, 5, "add", "it shows", "Ann")])
    edited = ran(store, "dag")
    ran(store, "rloo")
    rloo, dag, grpo = dashboard_offpath.off_path(store, PROJECT, ALL, ["rloo", "dag", "grpo"]).items
    assert [(one.off, one.spans, one.share) for one in (rloo, dag, grpo)] == [(0, 5, 0.0), (0, 5, 0.0), (1, 5, 0.2)]
    assert (grpo.run.stale_reason, dag.run.stale_reason) == ("the edge s1 -> s5 of bad was added", None)
    editing.edit(store, PROJECT, "ext:bad", [Change(4, 5, "remove", "it does not", "Ann")])
    old, new = dashboard_offpath.off_path(store, PROJECT, ALL, [edited.id, ran(store, "grpo").id]).items
    assert (old.off, old.share, old.run.stale) == (0, 0.0, True), "paths as it saw them"
    assert (new.off, new.share) == (1, 0.2), "now it is the second call that leads nowhere"


def test_where_runs_score_nothing_there_is_no_share(store: Store) -> None:
    put(store, rollout("open", None), rollout("other", None))
    ran(store, "grpo")
    panel = dashboard_offpath.off_path(store, PROJECT, ALL)
    assert (panel.items[0].share, panel.needs) == (None, dashboard_offpath.NOTHING)


def test_every_panel_says_what_it_lacks(store: Store) -> None:
    for panel in (rewards, variance, passes):
        assert "trajectories: none matches" in (panel(store, PROJECT, ALL).needs or "")
    assert "reward" in (dashboard_length.length(store, PROJECT, ALL).needs or "")
    put(store, rollout("open", None), rollout("closed", None))
    assert "no trajectory that matches has one" in (variance(store, PROJECT, ALL).needs or "")
    put(store, rollout("alone", 1.0, group="h"))
    assert "no two scored rollouts" in (variance(store, PROJECT, ALL).needs or "")
    for reads in (dashboard_tools.by_tool, dashboard_agreement.agreement, dashboard_offpath.off_path):
        assert reads(store, PROJECT, ALL).needs == NO_RUN
    ran(store, "grpo")
    assert dashboard_agreement.agreement(store, PROJECT, ALL).needs == dashboard_agreement.ALONE
    ran(store, "rloo")
    none = Filters(group_name="nobody")
    assert dashboard_agreement.agreement(store, PROJECT, none).needs == dashboard_agreement.NOT_SHARED
    assert dashboard_tools.by_tool(store, PROJECT, none).needs == dashboard_tools.NO_CALLS


def test_runs_that_cannot_be_shown_are_refused(grouped: Store) -> None:
    queued = ask(grouped, PROJECT, "grpo", {}, Wanted())
    with pytest.raises(InputError, match=r"run: 'grpo' \(#1\) is queued; only finished runs are shown"):
        dashboard_tools.by_tool(grouped, PROJECT, ALL, [queued.id])
    with pytest.raises(NotFoundError, match="no run 'shapley'"):
        dashboard_offpath.off_path(grouped, PROJECT, ALL, ["shapley"])
    made = [ran(grouped, "rtg", gamma=k / 10).id for k in range(2)]
    with pytest.raises(InputError, match="run: 2 are named, at most 1 are shown here"):
        chosen(grouped, PROJECT, made, most=1)
    default = chosen(grouped, PROJECT, [], most=1)
    assert ([one.id for one in default.runs], default.others) == ([made[1]], 1)
