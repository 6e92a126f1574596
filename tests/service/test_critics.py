"""Critics from the doors: asked by attributors that need them or by name, once a batch, and refused with the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import trajcredit as tc
from tests.build import batch_of, run
from tests.critics.worlds import desk, picked
from trajcredit import critics
from trajcredit.cli.root import root
from trajcredit.critics.compatible import fit_pool
from trajcredit.model import encode
from trajcredit.registry import attributors
from trajcredit.service.attributing import explained
from trajcredit.service.blame import blame
from trajcredit.service.plugins import choose
from trajcredit.service.stateless import score


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("desk") / "desk.jsonl"
    file.write_bytes(b"".join(encode(one) + b"\n" for one in desk()))
    return file


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many stories each fit of the critic read."""
    fits: list[int] = []

    def fit(stories: Any, *rest: Any) -> Any:
        fits.append(len(stories))
        return fit_pool(stories, *rest)

    monkeypatch.setitem(critics.KINDS, "compatible", fit)
    return fits


def command(*arguments: str) -> Result:
    return CliRunner().invoke(root, list(arguments))


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_score_asks_the_critic_of_the_flagship_and_tells_its_notes(log: Path) -> None:
    result = command("score", str(log), "-a", "doubly_robust")
    got = rows(result)
    wanted = tc.attribute(tc.batch(tc.read(log)), "doubly_robust")
    np.testing.assert_array_equal(
        [row["credit"] for row in got if row["is_action"]], wanted.credit[wanted.batch.action_mask]
    )
    assert all(row["credit"] is None for row in got if not row["is_action"])
    assert "out-of-fold slope" in result.stderr
    lost = [row for row in got if row["outcome"] == 0 and row["is_action"]]
    worst = {
        row["trajectory_id"]: min(lost, key=lambda r: (r["trajectory_id"] != row["trajectory_id"], r["credit"]))
        for row in lost
    }
    assert sum(row["name"] == "pick" for row in worst.values()) >= 0.9 * len(worst)


def test_an_attributor_of_values_takes_a_critic_by_name(log: Path) -> None:
    got = rows(command("score", str(log), "-a", "gae:critic=compatible,lam=0"))
    assert all(row["credit"] is not None for row in got if row["is_action"])
    batch = critics.fill(tc.batch(tc.read(log)), "compatible")
    pick = next(row for row in got if row["name"] == "pick" and row["is_action"])
    span = picked(batch)[0]
    assert pick["credit"] == pytest.approx(batch.advantage_forecast[span], abs=1e-12), "the jump of V is the forecast"


@pytest.mark.parametrize("spec", ["gae:critic=oracle", "doubly_robust:critic=oracle"])
def test_an_unknown_critic_is_named_before_anything_is_scored(log: Path, spec: str) -> None:
    result = command("score", str(log), "-a", spec)
    assert result.exit_code == 2
    assert "no critic named 'oracle'; known: best, compatible" in result.output


def test_from_python_by_name_with_parameters() -> None:
    batch = batch_of(*desk())
    credit = tc.attribute(batch, "doubly_robust", w=0.2)
    assert credit.parameters == {"w": 0.2, "update_size": 256, "part": 0.0}
    assert np.isnan(batch.advantage_forecast).all(), "the batch that was given is as it was"
    filled = critics.fill(batch, "compatible")
    np.testing.assert_array_equal(credit.batch.advantage_forecast, filled.advantage_forecast)
    np.testing.assert_array_equal(tc.attribute(filled, "doubly_robust", w=0.2).credit, credit.credit)
    with pytest.raises(tc.UnknownNameError, match="no critic named 'oracle'"):
        tc.attribute(batch, "doubly_robust", critic="oracle")


def test_gae_names_no_critic_of_its_own_and_is_refused_without_values() -> None:
    batch = batch_of(*desk())
    with pytest.raises(tc.InputError, match="gae needs a critic's values and no action span has one"):
        tc.attribute(batch, "gae")
    credit = tc.attribute(batch, "gae", critic="compatible")
    assert np.isfinite(credit.credit[batch.action_mask]).all()


def test_a_column_put_in_by_hand_is_taken_and_no_critic_asked(asked: list[int]) -> None:
    batch = batch_of(*desk())
    column = np.where(batch.action_mask, 0.25, np.nan)
    credit = tc.attribute(replace(batch, advantage_forecast=column), "doubly_robust", w=0)
    assert set(credit.credit[batch.action_mask].tolist()) == {0.25}
    assert asked == []
    named = tc.attribute(replace(batch, advantage_forecast=column), "doubly_robust", critic="compatible", w=0)
    assert len(set(named.credit[batch.action_mask].tolist())) > 10
    assert asked == [48]


def test_a_critic_is_asked_once_for_all_attributors_of_a_batch(asked: list[int]) -> None:
    batch = batch_of(*desk())
    specs = [
        "doubly_robust:w=0",
        "doubly_robust:w=1",
        "gae:critic=compatible",
        "doubly_robust:critic=compatible",
        "grpo",
    ]
    found = list(score(batch, choose(specs)))
    assert asked == [48]
    assert [credit.attributor for credit in found] == [*specs[:2], "gae", "doubly_robust:critic=compatible", "grpo"]
    assert found[0].batch is found[2].batch
    assert found[4].batch is batch


def test_packed_rows_without_texts_are_refused_with_the_reason() -> None:
    batch = replace(batch_of(*desk()), graphs=None)
    with pytest.raises(tc.InputError, match=r"loaded from packed rows without them: score the logs themselves"):
        tc.attribute(batch, "doubly_robust")
    filled = replace(batch, advantage_forecast=np.where(batch.action_mask, 0.0, np.nan))
    assert np.isfinite(tc.attribute(filled, "doubly_robust").credit[batch.action_mask]).all()


def test_a_critic_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("oh")

    monkeypatch.setitem(critics.KINDS, "compatible", broken)
    with pytest.raises(
        tc.InputError, match="the critic 'compatible' of attributor 'doubly_robust' failed: ZeroDivisionError"
    ):
        tc.attribute(batch_of(*desk()), "doubly_robust")


def test_blame_explains_with_the_columns_that_the_critic_filled() -> None:
    [choice] = choose(["doubly_robust:w=0.3"])
    [credit] = score(batch_of(*desk()), [choice])
    found = blame(credit, choice.attributor, 5)
    assert {finding.name for finding in found.blamed} == {"pick"}
    for finding in (*found.blamed, *found.praised):
        assert sum(reason.value for reason in finding.reasons) == pytest.approx(finding.credit, abs=1e-6)
        assert finding.reasons[0].name == "forecast of this choice"
        assert finding.reasons[0].value != 0
    for position in np.flatnonzero(credit.batch.action_mask)[::17].tolist():
        assert explained(credit, choice.attributor, position)


def test_the_blame_command_says_which_choice_lost(log: Path) -> None:
    result = command("blame", str(log), "-a", "doubly_robust:w=0.3", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {finding["name"] for finding in told["blamed"]} == {"pick"}
    assert any("forecast of this choice" in reason["name"] for reason in told["blamed"][0]["reasons"])


def test_a_single_group_falls_back_to_flat_credit_and_says_so() -> None:
    batch = batch_of(*(run("ucra", float(k % 2), name=f"t{k}") for k in range(4)))
    credit = tc.attribute(batch, "doubly_robust")
    np.testing.assert_array_equal(credit.credit, tc.attribute(batch, "rloo").credit)
    assert "critic-too-small" in [note.code for note in credit.batch.notes]
    [note] = [note for note in credit.notes if note.code == "critic-skill"]
    assert note.message.endswith("forecasts count 0.00, w 1.00")


def test_the_flagship_says_what_it_needs_and_who_fills_it() -> None:
    plugin = attributors.get("doubly_robust")()
    assert plugin.needs == ("advantage_forecast",)
    assert plugin.scope == "batch"
    assert plugin.default_critic in critics.KINDS
