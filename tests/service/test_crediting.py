"""What runs say of a stored trajectory: law, whole, sentence, scales; in every state it can be in."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from sqlalchemy import update

from tests.build import run
from tests.service.scenes import PROJECT, ran
from tests.store.shelf import put
from trajcredit.errors import InputError, NotFoundError, UnknownNameError
from trajcredit.service import crediting
from trajcredit.service.crediting import SpanCredit, span_credits
from trajcredit.service.rewarding import late
from trajcredit.service.running import Wanted, ask, cancel
from trajcredit.store import Store, tables, trajectories

FAILED = run("ucrcra", 0.0, name="bad", edges=[(4, 5)])
"""Its first call leads nowhere."""


@pytest.fixture
def filled(store: Store) -> Store:
    put(store, FAILED, run("ucra", 1.0, name="good", edges=[(2, 3)]), run("ua", name="open"))
    return store


def test_a_flat_run_says_so(filled: Store) -> None:
    made = ran(filled, "grpo")
    found = crediting.credits(filled, PROJECT, "ext:bad", "grpo")
    assert (found.run, found.label, found.stale, found.law, found.total) == (made.id, "grpo", False, "flat", -0.5)
    assert found.credit == (None, -0.5, None, -0.5, None, -0.5)
    assert found.advantage == pytest.approx((None, -0.7071, None, -0.7071, None, -0.7071), abs=1e-4)
    assert found.headline == "flat: every action span gets -0.50; this run cannot tell which call was wrong"
    assert (found.scale, found.dataset_scale) == (0.5, 0.5)
    assert found.advantage_scale == found.dataset_advantage_scale == pytest.approx(0.7071, abs=1e-4)
    assert crediting.credits(filled, PROJECT, "ext:bad", made.id) == found


def test_a_mask_names_what_it_clears(filled: Store) -> None:
    ran(filled, "dag")
    found = crediting.credits(filled, PROJECT, "ext:bad", "dag")
    assert (found.law, found.total) == ("mask", -0.5)
    assert found.credit == (None, 0.0, None, -0.5, None, -0.5)
    assert found.headline == (
        "2 of 3 action spans carry the blame, 1 gets exactly 0: no path leads from it to the outcome"
    )
    good = crediting.credits(filled, PROJECT, "ext:good", "dag")
    assert (good.law, good.total) == ("flat", 0.5)
    assert good.headline == (
        "both action spans are on a path to the outcome and get +0.50 each: this run tells none of them apart"
    )


@pytest.mark.parametrize(
    ("parameters", "total", "sentence"),
    [
        (
            {"gamma": 0.5},
            -0.5,
            "2 of 3 action spans carry the blame, -0.25 to -0.50 each, 1 gets exactly 0: "
            "no path leads from it to the outcome",
        ),
        (
            {"off_path": 0.5},
            -0.5,
            "2 of 3 action spans carry the blame, -0.50 each; 1 is off every path and keeps -0.25",
        ),
        ({"base": "rloo"}, -1.0, "2 of 3 action spans carry the blame, 1 gets exactly 0: no path leads from it"),
        ({"base": "broadcast"}, 0.0, "the outcome is 0.00, and every action span gets 0.00"),
        ({"base": "moving_average"}, 0.0, "the outcome is 0.00, and every action span gets 0.00"),
    ],
)
def test_the_whole_of_a_mask_is_what_a_sink_gets(filled: Store, parameters, total: float, sentence: str) -> None:
    found = crediting.credits(filled, PROJECT, "ext:bad", ran(filled, "dag", **parameters).id)
    assert found.law == ("mask" if total else "flat")
    assert found.total == pytest.approx(total)
    assert found.headline.startswith(sentence)


def test_where_nothing_is_on_a_path(filled: Store) -> None:
    found = crediting.credits(filled, PROJECT, "ext:bad", ran(filled, "dag", sinks=["effects"]).id)
    assert (found.law, found.total) == ("flat", 0.0)
    assert found.headline == "no action span is on a path to the outcome: every action span gets 0.00"


def test_a_reward_in_the_middle_is_a_mask_and_two_are_not(store: Store) -> None:
    put(
        store,
        run("ucrca", rewards={1: 2.0}, name="one", group="x"),
        run("ucrca", rewards={1: 1.0, 4: 1.0}, name="two", group="y"),
    )
    ran(store, "rtg")
    one = crediting.credits(store, PROJECT, "ext:one", "rtg")
    assert (one.credit, one.law, one.total) == ((None, 2.0, None, 0.0, 0.0), "mask", 2.0)
    assert one.headline == "1 of 3 action spans carries the credit, 2 get exactly 0"
    two = crediting.credits(store, PROJECT, "ext:two", "rtg")
    assert (two.credit, two.law, two.total) == ((None, 2.0, None, 1.0, 1.0), "free", None)
    assert two.headline == "s1 look carries 50 % of the positive credit (+2.00)"


def test_jumps_of_a_forecast_are_shares(store: Store) -> None:
    """gae with lam=0: V(next) - V(here), which add up to R - V(start)."""
    put(store, run("uca", 0.0, values=[None, 0.75, 0.5], name="t"))
    ran(store, "gae", lam=0.0)
    found = crediting.credits(store, PROJECT, "ext:t", "gae")
    assert (found.credit, found.law, found.total) == ((None, -0.25, -0.5), "shared", -0.75)
    assert found.headline == "s2 message carries 67 % of the negative credit (-0.50)"


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        pytest.param([], "alone in its group: there is no sibling to hold it against", id="alone"),
        pytest.param([None], "the only scored rollout of its group of 2: nothing to hold it against", id="only scored"),
        pytest.param([1.0], "both rollouts of its group ended at 1.00: nothing tells them apart", id="two alike"),
        pytest.param([1.0, 1.0, None], "all 3 scored rollouts of its group ended at 1.00", id="all alike"),
        pytest.param([0.0, 2.0], "its outcome of 1.00 is the mean of its group", id="the mean"),
    ],
)
@pytest.mark.parametrize("attributor", ["grpo", "rloo"])
def test_why_everything_is_nothing(store: Store, attributor: str, others, sentence: str) -> None:
    put(store, run("ca", 1.0, name="it"), *(run("ca", end, name=f"o{n}") for n, end in enumerate(others)))
    ran(store, attributor)
    found = crediting.credits(store, PROJECT, "ext:it", attributor)
    assert (found.law, found.total, found.scale) == ("flat", 0.0, 0.0)
    assert found.headline == f"{sentence}, so every action span gets 0.00" or sentence in found.headline
    assert found.headline.endswith("so every action span gets 0.00")


def test_a_group_that_lost_a_member_is_not_said_to_be_alone(store: Store) -> None:
    put(store, run("ca", 1.0, name="it"), run("ca", 1.0, name="gone"))
    ran(store, "grpo")
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:gone")
    found = crediting.credits(store, PROJECT, "ext:it", "grpo")
    assert found.stale
    assert found.headline == "flat: every action span gets 0.00; this run neither blames nor praises any"


def test_without_a_reward_nothing_is_scored(filled: Store) -> None:
    ran(filled, "grpo")
    found = crediting.credits(filled, PROJECT, "ext:open", "grpo")
    assert (found.law, found.total, found.credit, found.scale) == ("free", None, (None, None), 0.0)
    assert found.headline.startswith("not scored: it has no reward from the verifier")
    assert [note.code for note in found.notes] == ["unscored"]
    late(filled, PROJECT, b'{"trajectory": "ext:open", "value": 1, "source": "judge"}')
    assert crediting.credits(filled, PROJECT, "ext:open", "grpo").headline == found.headline, (
        "this run reads the verifier"
    )
    late(filled, PROJECT, b'{"trajectory": "ext:open", "value": 1}')
    later = crediting.credits(filled, PROJECT, "ext:open", "grpo")
    assert (later.stale, later.credit) == (True, (None, None))
    assert later.headline == "not scored: its reward came after this run had read its inputs; a new run would score it"


def test_a_late_reward_changes_nothing_that_a_run_said(filled: Store) -> None:
    ran(filled, "grpo")
    before = crediting.credits(filled, PROJECT, "ext:bad", "grpo")
    late(filled, PROJECT, b'{"trajectory": "ext:bad", "value": 1}')
    after = crediting.credits(filled, PROJECT, "ext:bad", "grpo")
    assert after.stale
    assert (after.credit, after.law, after.total, after.headline) == (
        before.credit,
        before.law,
        before.total,
        before.headline,
    )


def test_no_actions_one_action_and_no_forecast(store: Store) -> None:
    put(
        store,
        run("u", 1.0, name="none"),
        run("ua", 1.0, name="one", group="h", values=[None, 0.5]),
        run("ua", 0.0, name="two", group="h"),
    )
    ran(store, "grpo")
    ran(store, "gae")
    none = crediting.credits(store, PROJECT, "ext:none", "grpo")
    assert none.headline == "no action spans in this trajectory: nothing in it can get credit"
    assert [note.code for note in none.notes] == ["no-action"]
    one = crediting.credits(store, PROJECT, "ext:one", "grpo")
    assert one.headline == "there is only one action span, s1 message: it gets +0.50"
    two = crediting.credits(store, PROJECT, "ext:two", "gae")
    assert two.headline == "not scored: 1 of its steps has no logged value"
    assert [note.code for note in two.notes] == ["missing-values"]


def test_notes_are_those_of_the_trajectory_and_its_group(store: Store) -> None:
    put(store, run("a", 1.0, name="x"), run("a", 1.0, name="y"), run("a", 1.0, name="z", group="h"))
    ran(store, "grpo")
    assert [note.code for note in crediting.credits(store, PROJECT, "ext:x", "grpo").notes] == ["zero-variance"]
    assert [note.code for note in crediting.credits(store, PROJECT, "ext:z", "grpo").notes] == ["singleton-group"]


def test_a_trajectory_that_came_later_was_not_read(filled: Store) -> None:
    ran(filled, "grpo")
    put(filled, run("ua", 1.0, name="late"))
    found = crediting.credits(filled, PROJECT, "ext:late", "grpo")
    assert (found.credit, found.advantage, found.law, found.total) == ((None, None), (None, None), "free", None)
    assert found.headline == (
        "this trajectory was stored after this run had begun, so the run did not read it: a new run would"
    )
    assert (found.scale, found.dataset_scale, found.notes) == (0.0, 0.5, ())


def test_a_run_over_another_data_set_did_not_read_it(store: Store) -> None:
    put(store, replace(FAILED, dataset="a"), replace(run("a", 1.0, name="b"), dataset="b"))
    ran(store, "grpo", Wanted(dataset="a"))
    assert "this run read another data set" in crediting.credits(store, PROJECT, "ext:b", "grpo").headline


def test_a_run_that_is_not_finished_has_no_scale_yet(filled: Store) -> None:
    waiting = ask(filled, PROJECT, "grpo", {}, Wanted())
    found = crediting.credits(filled, PROJECT, "ext:bad", waiting.id)
    assert (found.headline, found.dataset_scale) == ("this run has not begun: nothing is scored yet", None)
    cancel(filled, PROJECT, waiting.id)
    assert "was cancelled" in crediting.credits(filled, PROJECT, "ext:bad", waiting.id).headline


def test_a_span_in_every_finished_run_the_newest_of_a_label_first(filled: Store) -> None:
    old, other, new = ran(filled, "grpo"), ran(filled, "dag"), ran(filled, "grpo")
    ask(filled, PROJECT, "rloo", {}, Wanted())
    found = span_credits(filled, PROJECT, "ext:bad", 1)
    assert found.span == 1
    assert found.items[0] == SpanCredit(new.id, 3, "grpo", False, None, -0.5, pytest.approx(-0.7071, abs=1e-4))  # type: ignore[arg-type]
    assert [(item.run, item.number, item.credit) for item in found.items] == [(new.id, 3, -0.5), (other.id, 2, 0.0)]
    assert old.id not in {item.run for item in found.items}
    watching = span_credits(filled, PROJECT, "ext:bad", 0).items
    assert [(item.credit, item.advantage) for item in watching] == [(None, None), (None, None)]


def test_a_stale_run_says_so_beside_its_number(filled: Store) -> None:
    ran(filled, "grpo")
    late(filled, PROJECT, b'{"trajectory": "ext:bad", "value": 1}')
    ran(filled, "dag")
    assert [(one.label, one.stale, one.stale_reason) for one in span_credits(filled, PROJECT, "ext:bad", 1).items] == [
        ("dag", False, None),
        ("grpo", True, "a reward came later"),
    ]


def test_runs_that_gave_a_trajectory_no_number_are_left_out(filled: Store) -> None:
    ran(filled, "grpo")
    assert span_credits(filled, PROJECT, "ext:open", 1).items == ()


def test_numbers_stand_where_their_attributor_is_not_installed_any_more(filled: Store) -> None:
    made = ran(filled, "dag")
    with filled.write() as conn:
        conn.execute(update(tables.runs).values(attributor="gone"))
    found = crediting.credits(filled, PROJECT, "ext:bad", made.id)
    assert (found.credit, found.law, found.total) == ((None, 0.0, None, -0.5, None, -0.5), "mask", -0.5)
    assert found.headline == "2 of 3 action spans carry the blame, 1 gets exactly 0"
    with pytest.raises(UnknownNameError, match="'gone'"):
        crediting.why(filled, PROJECT, "ext:bad", made.id, 3)


def test_what_is_not_there_is_named(filled: Store) -> None:
    with pytest.raises(NotFoundError, match="no run 'grpo' in project 'default'"):
        crediting.credits(filled, PROJECT, "ext:bad", "grpo")
    ran(filled, "grpo")
    with pytest.raises(NotFoundError, match="no trajectory 'ext:nobody'"):
        crediting.credits(filled, PROJECT, "ext:nobody", "grpo")
    with pytest.raises(NotFoundError, match="no trajectory 'ext:nobody'"):
        span_credits(filled, PROJECT, "ext:nobody", 0)
    with pytest.raises(InputError, match="span 6: trajectory 'ext:bad' has spans 0 to 5"):
        span_credits(filled, PROJECT, "ext:bad", 6)
