"""Groups as people look at them, over the store: the list, one group, two of its rollouts."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from tests.service.rollouts import rollout
from tests.service.scenes import PROJECT, counted, ran
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Reward, Span
from trajcredit.service import grouping, grouping_calls, grouping_compare, grouping_reading
from trajcredit.service.grouping import group, grouped
from trajcredit.service.grouping_compare import Alignment, alignment
from trajcredit.service.grouping_reading import spread_out
from trajcredit.service.running import Wanted
from trajcredit.store import Store, rewards
from trajcredit.store.rewards import Given

BAD = rollout("bad", 0.0, "search to=PRX", "weather", "pay id=1", prompt="Book LHR to Paris")
GOOD = rollout("good", 1.0, "search to=PAR", "pay id=1", prompt="Book LHR to Paris")
OTHER = rollout("other", 1.0, "search to=PAR", "pay id=1", prompt="Book LHR to Paris")
OPEN = rollout("open", None, prompt="Book it")


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, BAD, GOOD, OTHER, OPEN)
    return store


def test_a_row_of_the_list_says_how_a_group_did(filled: Store) -> None:
    put(filled, replace(rollout("alone", 1.0, "look"), group="h"))
    put(filled, *(replace(rollout(f"f{n}", 1.0, "look"), group="f") for n in range(2)))
    rows = {row.name: row for row in grouped(filled, PROJECT).items}
    assert (rows["g"].size, rows["g"].scored, rows["g"].passed) == (4, 3, 2)
    assert rows["g"].rewards == (0.0, 1.0, 1.0, None)
    assert rows["g"].mean == pytest.approx(2 / 3)
    assert rows["g"].sd == pytest.approx((1 / 3) ** 0.5)
    assert [(rows[name].zero_variance, rows[name].sd) for name in "gfh"] == [
        (False, rows["g"].sd),
        (True, 0.0),
        (False, None),
    ]


def test_however_many_groups_a_page_takes_as_many_queries(filled: Store) -> None:
    with counted(filled) as few:
        grouped(filled, PROJECT)
    put(filled, *(replace(rollout(f"t{n}", 1.0), group=f"g{n}") for n in range(20)))
    with counted(filled) as many:
        assert len(grouped(filled, PROJECT).items) == 21
    assert len(few) == len(many)


def test_a_group_has_its_members_figures_tree_and_split(filled: Store) -> None:
    found = group(filled, PROJECT, "ext:g")
    assert group(filled, PROJECT, found.id) == found
    assert [(m.number, m.external_id, m.reward, m.passed, m.n_spans, m.n_calls) for m in found.members] == [
        (1, "bad", 0.0, False, 7, 3),
        (2, "good", 1.0, True, 5, 2),
        (3, "other", 1.0, True, 5, 2),
        (4, "open", None, None, 1, 0),
    ]
    assert (found.size, found.scored, found.passed, found.source) == (4, 3, 2, "verifier")
    assert found.mean == pytest.approx(2 / 3)
    assert found.sd == pytest.approx((1 / 3) ** 0.5)
    assert list(found.pass_at_k) == pytest.approx([2 / 3, 1.0, 1.0])
    assert (found.prompt, found.prompts_differ) == ("Book LHR to Paris", True)
    assert [[call.tool for call in node.calls] for node in found.tree] == [
        [],
        ["search", "pay"],
        ["search", "weather", "pay"],
        [],
    ]
    assert [found.members[number - 1].path for number in (1, 2, 3, 4)] == [2, 1, 1, 3]
    assert found.split is not None
    assert (found.split.tool, found.split.argument) == ("search", "to")
    assert [call.splits for node in found.tree for call in node.calls] == [True, False, True, False, False]
    assert [one.differs for one in found.tree[1].calls[0].arguments] == [True]
    assert (found.a, found.b) == (found.members[0].id, found.members[1].id)
    assert found.notes == ("1 rollout without a reward of source verifier: in no figure and on no side.",)
    assert (found.run, found.label) == (None, None)


def test_a_run_gives_the_mean_credit_of_each_call(filled: Store) -> None:
    made = ran(filled, "grpo")
    put(filled, rollout("late", 1.0, "search to=PAR", "pay id=1"))
    found = group(filled, PROJECT, "ext:g", "grpo")
    assert (found.run, found.label) == (made.id, "grpo")
    assert [call.credit for node in found.tree for call in node.calls] == [
        pytest.approx(credit) for credit in (1 / 3, 1 / 3, -2 / 3, -2 / 3, -2 / 3)
    ]
    assert "The run did not read 1 rollout of these: in no mean credit." in found.notes


def test_a_run_that_is_out_of_date_says_why(filled: Store) -> None:
    ran(filled, "grpo")
    with filled.write() as conn:
        rewards.append(conn, PROJECT, [Given("ext:bad", Reward(1.0))])
    [stale] = [note for note in group(filled, PROJECT, "ext:g", "grpo").notes if "stale" in note]
    assert stale.startswith("The run is stale: ")


def test_a_run_that_grouped_otherwise_is_told(filled: Store) -> None:
    put(filled, replace(rollout("x", 1.0, "look"), task="t"))
    ran(filled, "grpo", Wanted(group_by="task"))
    notes = group(filled, PROJECT, "ext:g", "grpo").notes
    assert "The run grouped rollouts by task: its baselines are of other groups than this." in notes


def test_the_call_that_splits_is_shown_however_late_it_comes(store: Store) -> None:
    same = [f"look at={n}" for n in range(12)]
    put(
        store,
        *(rollout(f"l{n}", 0.0, f"go by={n}", *same, "pay how=cash") for n in range(3)),
        *(rollout(f"h{n}", 1.0, f"go by={n + 3}", *same, "pay how=card") for n in range(3)),
    )
    found = group(store, PROJECT, "ext:g")
    assert found.split is not None
    assert (found.split.tool, found.split.argument, found.split.step) == ("pay", "how", 14)
    for node in found.tree[1:]:
        assert [call.step for call in node.calls] == [1, 2, 3, 4, 5, 6, 7, 14]
        assert [call.splits for call in node.calls] == [False] * 7 + [True]
        assert node.more_calls == 6


def test_policy_versions_and_sources_that_are_mixed_are_told(store: Store) -> None:
    human = replace(rollout("b", 0.0, "look"), rewards=[Reward(1.0, "human")], policy_version="v2")
    put(store, replace(rollout("a", 1.0, "look"), policy_version="v1"), human)
    found = group(store, PROJECT, "ext:g")
    assert "The rollouts are of 2 policy versions: they may differ for that alone." in found.notes
    assert (found.scored, found.mean, found.members[1].reward, found.members[1].outcome) == (1, 1.0, None, 1.0)
    assert found.sentence == "No split matters: fewer than two of these rollouts have a reward."


def test_without_a_split_one_that_failed_stands_beside_one_that_passed(store: Store) -> None:
    put(store, rollout("a", 1.0, "look"), rollout("b", None, "look"), rollout("c", 0.0, "look"))
    found = group(store, PROJECT, "ext:g")
    assert (found.a, found.b) == (found.members[2].id, found.members[0].id)
    put(store, replace(rollout("x", 1.0), group="one"))
    alone = group(store, PROJECT, "ext:one")
    assert (alone.a, alone.b) == (alone.members[0].id, None)


def test_a_large_group_is_read_in_part_and_says_so(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping_reading, "MOST_MEMBERS", 2)
    monkeypatch.setattr(grouping, "MOST_LISTED", 3)
    for module in (grouping, grouping_calls):
        monkeypatch.setattr(module, "MOST_CALLS", 1)
    found = group(filled, PROJECT, "ext:g")
    assert found.tree[0].members == (1, 3)
    assert [m.n_calls for m in found.members] == [3, None, 2]
    assert (found.size, found.scored) == (4, 3)
    assert found.notes[1:] == (
        "Tree and split are of 2 of 4 rollouts, spread evenly; figures are of all.",
        "1 rollout not listed, after the first 3.",
        "Of 2 rollouts only the first 1 calls are compared.",
    )


@pytest.mark.parametrize(
    ("sizes", "most", "most_bytes", "chosen"),
    [
        pytest.param([1] * 4, 9, 9, [0, 1, 2, 3], id="all of them"),
        pytest.param([1] * 8, 4, 9, [0, 2, 5, 7], id="four of eight"),
        pytest.param([1] * 8, 9, 2, [0, 5], id="as many as have so many bytes"),
        pytest.param([9] * 8, 9, 1, [0, 5], id="two at least"),
        pytest.param([], 9, 9, [], id="none"),
        pytest.param([1], 9, 0, [0], id="one"),
    ],
)
def test_members_are_chosen_evenly(sizes: list[int], most: int, most_bytes: int, chosen: list[int]) -> None:
    assert spread_out(sizes, most, most_bytes) == chosen


def side_by_side(store: Store, a: str = "ext:bad", b: str = "ext:good", run: str | None = None) -> Alignment:
    return alignment(store, PROJECT, "ext:g", a, b, run)


def test_two_rollouts_stand_side_by_side(filled: Store) -> None:
    found = side_by_side(filled)
    assert [row.state for row in found.rows] == ["same", "differs", "a", "same"]
    assert (found.a.number, found.a.reward, found.b.number, found.b.passed, found.first) == (1, 0.0, 2, True, 1)
    [difference] = found.rows[1].differences
    assert (difference.path, difference.a, difference.b) == ("to", '"PRX"', '"PAR"')
    cell = found.rows[3].a
    assert cell is not None
    assert (cell.span, cell.step, cell.name, cell.result, cell.is_error) == (5, 3, "pay", "ok", False)
    assert (found.run, found.scale, cell.credit) == (None, 0.0, None)


def test_the_credit_of_each_call_stands_beside_it(filled: Store) -> None:
    made = ran(filled, "grpo")
    found = side_by_side(filled, run="grpo")
    assert found.run == made.id
    assert found.scale == pytest.approx(2 / 3)
    said = [[cell and cell.credit for cell in (row.a, row.b)] for row in found.rows]
    assert said[0] == [None, None], "what the user says has none"
    assert said[1] == [pytest.approx(-2 / 3), pytest.approx(1 / 3)]
    put(filled, rollout("late", 1.0))
    assert side_by_side(filled, b="ext:late", run="grpo").notes == ("The run did not read B (#5).",)


def test_a_rollout_beside_itself_has_no_difference(filled: Store) -> None:
    found = side_by_side(filled, "ext:bad", "ext:bad")
    assert ({row.state for row in found.rows}, found.first) == ({"same"}, None)


def test_reasoning_is_folded_and_counted(store: Store) -> None:
    thought = Span(kind="reasoning", turn=0, text="hm")
    spans = [GOOD.spans[0], thought, thought, *(replace(s, result_of=s.result_of and 3) for s in GOOD.spans[1:3])]
    put(store, BAD, replace(GOOD, spans=spans))
    found = side_by_side(store)
    assert [row.b.folded for row in found.rows if row.b] == [0, 2]
    assert [row.b.span for row in found.rows if row.b] == [0, 3]


def test_a_long_rollout_is_shown_in_part_and_says_so(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping_compare, "MOST_ITEMS", 2)
    found = side_by_side(filled)
    assert len(found.rows) == 2
    rest = "more calls and messages, not shown."
    assert found.notes == (f"A goes on for 2 {rest}", f"B goes on for 1 {rest}")


def test_what_is_not_of_the_group_is_refused_by_name(filled: Store) -> None:
    put(filled, replace(rollout("stranger", 1.0), group="h"))
    with pytest.raises(InputError, match=r"^b: trajectory 'ext:stranger' is not in group 'g'$"):
        side_by_side(filled, b="ext:stranger")
    with pytest.raises(NotFoundError, match="ext:nobody"):
        side_by_side(filled, a="ext:nobody")
    with pytest.raises(NotFoundError, match="no group"):
        group(filled, PROJECT, "nothing")


def test_answers_are_json_without_a_rest(filled: Store) -> None:
    for answer in (grouped(filled, PROJECT), group(filled, PROJECT, "ext:g"), side_by_side(filled)):
        assert msgspec.json.decode(msgspec.json.encode(answer))
