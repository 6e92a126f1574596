"""The walk through the tree of questions: what is found in small data sets, and that what is advised can be run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import trajcredit as tc
from tests.build import batch_of, group_of, run
from trajcredit.batching import Batch
from trajcredit.critics import fill
from trajcredit.critics.filling import LEAST_GROUPS
from trajcredit.model import Note, Reward, Span, Trajectory
from trajcredit.service import attributing, plugins
from trajcredit.service.advising import READ, Advice, advise
from trajcredit.service.advising_facts import facts_of
from trajcredit.service.grading_measured import COLUMNS, MEASURED

PAGE = Path(__file__).parents[2] / "docs" / "credit.md"


def answers(found: Advice) -> list[str]:
    return [question.answer for question in found.questions]


def advised(found: Advice) -> list[str]:
    return [one.attributor for one in found.recommended]


def valued(right: bool) -> list[Trajectory]:
    """Groups of two, one of which succeeds; every action is valued at what comes (right) or at its opposite."""
    return [
        run("ua" * 6, float(i % 2), name=f"r{i}", group=f"g{i // 2}", values=[None, float((i % 2) == right)] * 6)
        for i in range(2 * LEAST_GROUPS)
    ]


PAIRS = [*group_of(0.0, 1.0, group="a"), *group_of(1.0, 0.0, group="b")]


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param(PAIRS, ["rloo", READ], id="siblings and nothing else"),
        pytest.param(group_of(1.0, 1.0, 1.0), [], id="all alike"),
        pytest.param([run("a", float(i), group=f"g{i}") for i in (0, 1)], ["moving_average"], id="one rollout a task"),
        pytest.param([run("a", 1.0, group=f"g{i}") for i in (0, 1)], [], id="one rollout a task, all alike"),
        pytest.param([run("a", None), run("a", None)], [], id="no reward"),
        pytest.param([*group_of(1.0, 1.0), run("a", 0.0, group="h")], ["moving_average"], id="siblings alike, and one"),
        pytest.param(valued(right=True), ["gae", READ], id="a critic that is right, long episodes"),
        pytest.param(valued(right=False), ["rloo", READ], id="a critic that is wrong is no critic"),
    ],
)
def test_what_is_advised(runs: list[Trajectory], expected: list[str]) -> None:
    assert advised(advise(batch_of(*runs))) == expected


def test_returns_minus_v_where_episodes_are_short() -> None:
    short = [run("a", float(i % 2), group=f"g{i // 2}", values=[i % 2]) for i in range(16)]
    assert advised(advise(batch_of(*short)))[0] == "gae:lam=1"


def test_values_of_some_do_for_none() -> None:
    runs = valued(right=True)
    found = advise(batch_of(*runs, run("aa", 1.0, name="x", group="x"), run("aa", 0.0, name="y", group="x")))
    assert advised(found)[0] == "rloo"
    assert "for gae: values of 2 trajectories" in found.missing


def test_few_groups_say_nothing_of_a_critic() -> None:
    found = advise(batch_of(*valued(right=True)[: 2 * LEAST_GROUPS - 2]))
    assert found.questions[3].found == "values are logged, too few groups to judge them by"
    assert found.questions[3].numbers["error_against_spread"] is None


def test_the_error_of_a_critic_by_hand() -> None:
    """Pairs 0 and 1: without a critic one forecasts the sibling, and errs by 1; V = 0.5 errs by a quarter."""
    runs = [run("aa", float(i % 2), group=f"g{i // 2}", values=[0.5, 0.5]) for i in range(2 * LEAST_GROUPS)]
    facts = facts_of(batch_of(*runs))
    assert (facts.critic_error, facts.critic_low, facts.critic_high) == pytest.approx((0.25, 0.25, 0.25))
    assert facts.critic_trusted
    paid = [
        run("uaua", name=f"p{i}", group=f"h{i // 2}", rewards={1: 1.0, 3: i % 2}, values=[None, 1.5, None, 0.5])
        for i in range(2 * LEAST_GROUPS)
    ]
    assert facts_of(batch_of(*paid)).critic_error == pytest.approx(0.25), "what was paid is no longer ahead"


def test_preferences_alone_end_the_walk() -> None:
    note = Note("preference", "chosen before rejected: an order, no reward")
    runs = [Trajectory(id=f"r{i}", group="g", spans=run("a").spans, report=[note]) for i in (0, 1)]
    found = advise(batch_of(*runs))
    assert answers(found) == ["no"]
    assert "preferences alone are for other objectives" in found.questions[0].found
    assert found.recommended == ()


def test_an_opinion_is_called_one() -> None:
    runs = [Trajectory(id=f"r{i}", group="g", spans=run("a").spans, rewards=[Reward(i, "judge")]) for i in (0, 1)]
    assert "from judge: an opinion" in advise(batch_of(*runs)).questions[0].found


def test_counts_of_a_small_data_set() -> None:
    """Two groups of two; of one all succeed; a call that nothing uses, a reward before the end, a lone rollout."""
    runs = [
        run("ucra", 1.0, group="a", name="a0"),
        run("ucra", 0.0, group="a", name="a1"),
        run("uaua", group="b", name="b0", rewards={1: 0.5, 3: 0.5}),
        run("ua", 1.0, group="b", name="b1"),
        run("ua", 0.0, group="c", name="c0"),
        run("ua", None, group="d", name="d0"),
    ]
    facts = facts_of(batch_of(*runs))
    assert (facts.trajectories, facts.scored, facts.groups, facts.singles) == (6, 5, 3, 1)
    assert (facts.uniform, facts.mixed, facts.smallest, facts.largest, facts.rollouts) == (1, 1, 1, 2, 2)
    assert (facts.dense, facts.choices, facts.compared, facts.fitted) == (1, 2, 4, 0)
    assert (facts.actions, facts.off_path) == (9, 2), "calls without a use; the first words of b0 carry reward"
    assert facts.preferences == facts.judged == facts.informed == facts.effects == 0


def test_a_run_that_is_there_twice_is_found() -> None:
    first, other = run("ucra", 1.0, name="a"), run("ucraa", 0.0, name="b")
    found = advise(batch_of(first, other, run("ucra", 1.0, name="c"), run("ucra", 0.0, name="d", group="h")))
    [siblings] = [question for question in found.questions if question.question.startswith("Are there at least two")]
    assert siblings.numbers["repeated"] == 2
    assert siblings.found.endswith("2 trajectories equal others span by span: a run that was logged twice counts twice")
    once = advise(batch_of(first, other))
    assert "span by span" not in " ".join(question.found for question in once.questions)
    timed = [msgspec.structs.replace(first, id=f"t{n}", spans=_at(first, f"2026-01-0{n}")) for n in (1, 2)]
    assert facts_of(batch_of(*timed)).repeated == 0, "two runs that came out alike, at two times"


def test_a_known_answer_leads_to_clues() -> None:
    runs = [msgspec.structs.replace(one, answer="Paris", id=f"r{n}") for n, one in enumerate(PAIRS)]
    last = advise(batch_of(*runs)).questions[-1]
    assert last.found.endswith(
        "4 trajectories with the answer itself: `clues` tells which calls brought it in, to read"
    )
    assert last.numbers == {"informed": 0, "answered": 4}
    assert "clues" not in advise(batch_of(*PAIRS)).questions[-1].found


def _at(run_: Trajectory, time: str) -> list[Span]:
    return [msgspec.structs.replace(span, started_at=time) for span in run_.spans]


def test_calls_that_siblings_made_too_are_counted() -> None:
    used = [(1, 3)]
    first, second = (run("ucra", float(i), name=f"r{i}", edges=used) for i in (0, 1))
    facts = facts_of(batch_of(first, second, run("a", 1.0, name="x")))
    assert (facts.calls, facts.alike) == (2, 2)
    alone = facts_of(batch_of(first, run("a", 1.0, name="x"), run("ucra", 1.0, name="y", group="h", edges=used)))
    assert (alone.calls, alone.alike) == (1, 0), "a call of another task is none of a sibling's"
    assert "shapley" in advised(advise(batch_of(first, second), update_size=64))


def test_states_that_siblings_share_are_counted_after_the_first_step() -> None:
    same = [run("ucraucra", float(i), name=f"r{i}", turns=[-1, 0, 0, 1, 1, 2, 2, 3]) for i in (0, 1)]
    facts = facts_of(batch_of(*same))
    assert (facts.steps, facts.met) == (6, 6)
    alone = facts_of(batch_of(same[0], run("a", 1.0, name="x")))
    assert (alone.steps, alone.met) == (3, 0)


def tasks(folder: Path, n: int, helpful: bool = True) -> Batch:
    """n tasks of four rollouts that set a table for as many as asked, or (wrongly) for one more; that decides."""
    rows: list[dict[str, Any]] = []
    for i in range(4 * n):
        wrong = i % 2 == 0
        seats = 20 + 7 * (i // 4)
        chosen = {"seats": seats + 3 if wrong and helpful else seats}
        call = {"id": f"c{i}", "type": "function", "function": {"name": "set_table", "arguments": json.dumps(chosen)}}
        messages = [
            {"role": "user", "content": f"A table for {seats} please"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{i}", "content": "done"},
            {"role": "assistant", "content": "Your table is set."},
        ]
        rows.append(
            {"trajectory_id": f"r{i}", "group_id": f"g{i // 4}", "reward": int(not wrong), "messages": messages}
        )
    log = folder / "tables.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tc.batch(tc.read(log))


def test_a_fitted_critic_is_asked_whether_it_foretells_outcomes(tmp_path: Path) -> None:
    found = advise(tasks(tmp_path, 12), update_size=64)
    [pools] = [question for question in found.questions if question.question.startswith("Can a critic")]
    assert pools.answer == "yes"
    assert pools.numbers["trajectories_with_skill"] == 48
    assert advised(found) == ["doubly_robust:update_size=64", READ]
    assert all(one.measured for one in found.recommended)
    found = advise(tasks(tmp_path, 12, helpful=False), update_size=64)
    assert not advised(found)[0].startswith("doubly_robust"), "nothing in these transcripts tells good from bad"
    assert advised(found)[1] == READ, "siblings tell something all the same"
    assert found.recommended[1].measured is None, "what good critics reached is no promise here"
    assert any("until the fitted critic foretells" in sentence for sentence in found.missing)
    found = advise(tasks(tmp_path, LEAST_GROUPS - 1))
    assert f"with two scored rollouts each (here {LEAST_GROUPS - 1})" in " ".join(found.missing)


def test_pools_are_counted_as_the_critic_counts_them(tmp_path: Path) -> None:
    """Two pools of half the groups a critic needs are put together; one of them alone is too small."""
    batch = tasks(tmp_path, LEAST_GROUPS)
    half = batch.group < LEAST_GROUPS // 2
    split = replace(batch, pool=half.astype(np.int64))
    facts = facts_of(split)
    assert (facts.pools, facts.fitted, facts.merged) == ((LEAST_GROUPS // 2,) * 2, 4 * LEAST_GROUPS, 4 * LEAST_GROUPS)
    assert "critic-pools-merged" in {note.code for note in fill(split, "compatible").notes}
    few = facts_of(tasks(tmp_path, LEAST_GROUPS - 1))
    assert (few.fitted, few.believed) == (0, 0)


@pytest.mark.parametrize("size", [1, 64, 256, 1024, 10**6])
def test_what_is_advised_runs(tmp_path: Path, size: int) -> None:
    for batch in (batch_of(*PAIRS), tasks(tmp_path, 12), tasks(tmp_path, 12, helpful=False), tasks(tmp_path, 2)):
        found = advised(advise(batch, size))
        assert found
        for choice in plugins.choose(list(dict.fromkeys(found))):
            credit = attributing.scored(batch, choice.label, choice.attributor, choice.critic)
            assert np.isfinite(credit.advantage[batch.action_mask]).all()


def test_the_figures_that_are_told_stand_in_the_docs() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("<!-- measured: oracle -->")[2].partition("<!-- end of")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    table = {cells[1].strip().strip("`"): cells[2:] for cells in rows if "not measured" not in cells[2]}
    assert set(table) == set(MEASURED)
    for name, figures in MEASURED.items():
        known = dict(zip(COLUMNS, figures, strict=True))
        shown = [float(cell) for cell in table[name][:5]]
        assert shown == pytest.approx([known[c] for c in ("pearson", "sign", "blame@1", "praise@1", "nmse")], abs=6e-4)
        gains = [float(cell) for cell in table[name][6].split("/")]
        assert gains == pytest.approx([known[f"efficiency {n}"] for n in (64, 256, 1024)], abs=6e-3)
