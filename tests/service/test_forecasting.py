"""Stored runs that ask a critic: the rows of `score`, what the critic said kept with them, and no second fit ever."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.service.pools import pool
from tests.service.uploads import PROJECT, log, rollout, scored, send
from trajcredit import critics
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.service import attributing, blame, forecasting, plugins, reasons, recalling, rewarding, stateless
from trajcredit.service.asking import compares_across_groups, configured, of_spec
from trajcredit.service.crediting import credits, why  # noqa: A004  # the noun of the whole program
from trajcredit.service.exporting import export
from trajcredit.service.runner import see_through
from trajcredit.service.running import RunView, Wanted, ask, ask_for, find
from trajcredit.service.wording import signed
from trajcredit.store import Store, documents, forecasts, run_inputs, runs, trajectories

ROBUST, GAE = "doubly_robust", "gae:critic=compatible"
SPECS = [ROBUST, "doubly_robust:w=0.25", "doubly_robust:w=0.5,part=0.3", GAE, "gae:lam=0.5,critic=compatible"]
SPAN = 4
"""The order, whose argument decides."""


@pytest.fixture
def fitted(store: Store) -> Store:
    """A pool with a finished run of `doubly_robust`."""
    send(store, *pool())
    scored(store, ROBUST)
    return store


def written(folder: Path, rows: list[dict[str, Any]]) -> str:
    """The rows in a file of the name that uploads have, so that ids and data set are the same."""
    path = folder / "log.jsonl"
    path.write_bytes(log(*rows).data)
    return str(path)


def rows_of(store: Store, run: RunView) -> bytes:
    out = io.BytesIO()
    export(store, PROJECT, run.id, plugins.exporter_of("jsonl"), out)
    return out.getvalue().replace(f'"run_id":"{run.id}"'.encode(), b'"run_id":null')


def rows_of_score(path: str, spec: str, **how: Any) -> bytes:
    out = io.BytesIO()
    batch = stateless.batch(stateless.read(path), **how)
    plugins.exporter_of("jsonl")(stateless.score(batch, plugins.choose([spec])), out)
    return out.getvalue()


# ---------------------------------------------------------------- the same rows


@pytest.mark.parametrize("spec", SPECS)
def test_rows_are_those_of_score_bit_for_bit(
    store: Store, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In pieces too, and with documents loaded a few at a time."""
    monkeypatch.setattr("trajcredit.service.executing.PIECE_SPANS", 50)
    monkeypatch.setattr(documents, "CHUNK", 7)
    rows = pool()
    send(store, *rows)
    run = scored(store, spec)
    assert rows_of(store, run) == rows_of_score(written(tmp_path, rows), spec)
    assert (run.label, run.critic) == (spec, "compatible")


def test_whatever_was_stored_in_between_the_rows_of_one_data_set_are_those_of_its_log(
    store: Store, tmp_path: Path
) -> None:
    rows = pool()
    send(store, rollout("other", dataset="elsewhere"))
    send(store, *rows[:13])
    send(store, *rows)
    run = scored(store, ROBUST, Wanted(dataset="log.jsonl"))
    assert rows_of(store, run) == rows_of_score(written(tmp_path, rows), ROBUST)


def test_rewards_and_groups_asked_for_are_those_the_critic_reads(store: Store, tmp_path: Path) -> None:
    rows = [{**row, "task_id": f"k{n % 9}", "reward_source": "human"} for n, row in enumerate(pool(9, 4))]
    send(store, *rows)
    path = written(tmp_path, rows)
    run = scored(store, ROBUST, Wanted("human", "task"))
    assert rows_of(store, run) == rows_of_score(path, ROBUST, reward="human", group_by="task")
    assert rows_of(store, run) != rows_of_score(path, ROBUST)


def test_the_argument_that_decides_gets_the_blame(fitted: Store) -> None:
    failed = [row["id"] for row in pool() if row["reward"] == 0.0 and "later" in str(row["messages"][3])]
    assert len(failed) > 10
    for name in failed:
        said = np.array(credits(fitted, PROJECT, f"ext:{name}", ROBUST).credit, dtype=float)
        assert np.nanargmin(said) in (SPAN - 1, SPAN), name


# ---------------------------------------------------------------- what is kept


def test_what_the_critic_said_is_kept_beside_the_credit(store: Store, tmp_path: Path) -> None:
    rows = pool()
    send(store, *rows)
    run = scored(store, ROBUST)
    filled = critics.fill(stateless.batch(stateless.read(written(tmp_path, rows))), "compatible")
    assert np.ptp(filled.advantage_forecast[filled.action_mask]) > 0.1, "it has learnt something"
    with store.read() as conn:
        found = runs.find(conn, PROJECT, run.id)
        kept = run_inputs.seen(conn, found, [member.id for member in run_inputs.members(conn, found)]).forecasts
    assert kept is not None
    for column, name in zip(kept, critics.COLUMNS, strict=True):
        assert column.tobytes() == getattr(filled, name).tobytes(), name


def test_the_columns_are_kept_in_the_order_in_which_critics_name_them() -> None:
    assert forecasts.COLUMNS == critics.COLUMNS


def test_an_attributor_without_a_critic_loads_no_text_and_keeps_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, *pool(3))
    monkeypatch.setattr(documents, "graphs", lambda *given: pytest.fail("documents were loaded"))
    run = scored(store, "grpo")
    assert (run.critic, run.critic_fingerprint) == (None, None)


def test_the_fingerprint_is_that_of_what_the_forecasts_follow_from(store: Store) -> None:
    send(store, *pool(9))
    first, again, other = (scored(store, spec) for spec in (ROBUST, ROBUST, GAE))
    assert first.critic_fingerprint == again.critic_fingerprint == other.critic_fingerprint, "one critic, one input"
    assert len(first.critic_fingerprint or "") == forecasting.LENGTH
    prints = [first.critic_fingerprint]
    prints.append(scored(store, ROBUST, Wanted(group_by="group")).critic_fingerprint)
    rewarding.late(store, PROJECT, b'{"trajectory": "ext:g0r0", "value": 0.5}')
    prints.append(scored(store, ROBUST).critic_fingerprint)
    send(store, rollout("new"))
    prints.append(scored(store, ROBUST).critic_fingerprint)
    assert len(set(prints)) == len(prints)


def test_the_fingerprint_changes_with_the_code_of_critics(fitted: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = find(fitted, PROJECT, ROBUST).critic_fingerprint
    monkeypatch.setattr("trajcredit.critics.code_hash", lambda: "another")
    assert scored(fitted, ROBUST).critic_fingerprint != before


# ---------------------------------------------------------------- explanations


@pytest.mark.parametrize("spec", SPECS)
def test_terms_add_up_to_the_kept_credit_without_a_new_fit(
    store: Store, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(store, *pool())
    run = scored(store, spec)
    monkeypatch.setattr(critics, "fill", lambda *given: pytest.fail("a critic was asked again"))
    for ref in ("ext:g0r0", "ext:g3r2"):
        said = credits(store, PROJECT, ref, run.id)
        for span, credit in enumerate(said.credit):
            found = why(store, PROJECT, ref, run.id, span)
            assert (found.credit, found.advantage) == (credit, said.advantage[span])
            if credit is not None:
                assert math.fsum(term.value for term in found.terms) == pytest.approx(credit, abs=1e-6)
                assert found.terms


def test_an_explanation_is_of_what_the_run_read(fitted: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = why(fitted, PROJECT, "ext:g1r1", ROBUST, SPAN)
    assert [term.name.partition(",")[0] for term in before.terms] == [
        "forecast of this choice",
        "outcome",
        "mean of siblings",
        "forecasts of the whole run",
    ]
    rewarding.late(fitted, PROJECT, b'{"trajectory": "ext:g1r1", "value": 0.5}')
    send(fitted, rollout("new"))
    monkeypatch.setattr(critics, "fill", lambda *given: pytest.fail("a critic was asked again"))
    assert why(fitted, PROJECT, "ext:g1r1", ROBUST, SPAN) == before


@pytest.mark.parametrize("version", ["0.0.9+0123456789ab", None])
def test_a_number_that_comes_out_otherwise_is_never_explained(
    fitted: Store, monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    if version is None:
        with fitted.write() as conn:
            trajectories.delete(conn, PROJECT, "ext:g1r0")
    else:
        original = attributing.scored

        def otherwise(*given: Any) -> Any:
            made = original(*given)
            return replace(made, credit=made.credit + 0.25)

        monkeypatch.setattr(reasons, "scored", otherwise)
        monkeypatch.setattr(reasons, "code_version", lambda: version)
    cause = "a trajectory that it read was replaced or deleted" if version is None else f"this is {version}"
    with pytest.raises(InputError, match=cause.replace("+", r"\+")):
        why(fitted, PROJECT, "ext:g1r1", ROBUST, SPAN)


@pytest.mark.parametrize("spec", [ROBUST, "doubly_robust:w=0.25", GAE])
def test_who_is_blamed_in_a_stored_trajectory_is_read_off_what_a_run_kept(
    fitted: Store, spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [choice] = plugins.choose([spec])
    [credit] = stateless.score(stateless.batch(stateless.read(written(tmp_path, pool()))), [choice])
    expected = blame.blame(credit, choice.attributor, 3, "g1r1")
    monkeypatch.setattr(critics, "fill", lambda *given: pytest.fail("a critic was asked again"))
    one = recalling.id_of(fitted, PROJECT, "g1r1")
    assert recalling.blamed(fitted, PROJECT, one, choice, 3).blame == expected
    assert recalling.blamed(fitted, PROJECT, one, choice, 3, reward="verifier").blame == expected


def test_where_no_run_has_asked_the_critic_one_is_told_to_make_one(store: Store) -> None:
    send(store, *pool())
    scored(store, "grpo")
    one = recalling.id_of(store, PROJECT, "g1r1")
    told = "no run holds what the critic 'compatible' says of project 'default' as it is now: make one first, .*"
    for spec in (ROBUST, GAE):
        [choice] = plugins.choose([spec])
        with pytest.raises(InputError, match=f"{told}`trajcredit run {spec}`"):
            recalling.blamed(store, PROJECT, one, choice, 3)
    scored(store, ROBUST)
    [choice] = plugins.choose([ROBUST])
    recalling.blamed(store, PROJECT, one, choice, 3)
    for how in ({"group_by": "task"}, {"reward": "tone"}):
        with pytest.raises(InputError):
            recalling.blamed(store, PROJECT, one, choice, 3, **how)
    send(store, rollout("new"))
    with pytest.raises(InputError, match=told):
        recalling.blamed(store, PROJECT, one, choice, 3)


# ---------------------------------------------------------------- the sentence


def test_the_sentence_says_what_is_the_same_in_every_number(fitted: Store) -> None:
    for name in ("g1r1", "g4r0"):
        said = credits(fitted, PROJECT, f"ext:{name}", ROBUST)
        assert (said.law, said.total) == ("free", None)
        found = why(fitted, PROJECT, f"ext:{name}", ROBUST, SPAN)
        rest = sum(term.value for term in found.terms[1:])
        assert abs(rest) > 0.01
        assert f"; {signed(rest)} of every number is what the critic's forecasts leave unexplained" in said.headline


def test_nothing_is_said_of_the_rest_where_there_is_none_or_it_is_not_the_same_for_all(fitted: Store) -> None:
    for spec in ("doubly_robust:w=0", "doubly_robust:w=0.5,part=0.3"):
        assert "unexplained" not in credits(fitted, PROJECT, "ext:g1r1", scored(fitted, spec).id).headline


# ---------------------------------------------------------------- asking


def test_a_critic_is_a_parameter_and_kept_as_one(store: Store) -> None:
    send(store, rollout("a"))
    run = ask(store, PROJECT, "gae", {"critic": "compatible", "lam": 0.5}, Wanted())
    assert (run.label, run.parameters["critic"], run.critic) == ("gae:lam=0.5,critic=compatible", "compatible", None)
    again = configured(run.attributor, run.parameters)
    assert (again.critic, again.label) == ("compatible", run.label)
    assert configured("gae", {"critic": None}) == of_spec("gae")
    assert "critic" not in of_spec(ROBUST).parameters


@pytest.mark.parametrize("critic", ["nobody", "none", 1])
def test_an_unknown_critic_is_refused_before_anything_is_queued(store: Store, critic: Any) -> None:
    send(store, rollout("a"))
    with pytest.raises(UnknownNameError, match=f"no critic named '{critic}'; known: best, compatible"):
        ask(store, PROJECT, "gae", {"critic": critic}, Wanted())


def test_a_run_that_asks_a_critic_compares_across_groups(fitted: Store) -> None:
    for spec in (ROBUST, GAE):
        made = of_spec(spec)
        assert compares_across_groups(made.name, made.parameters)
    assert not compares_across_groups("gae", {})
    scored(fitted, GAE)
    send(fitted, rollout("new"))
    for spec in (ROBUST, GAE):
        assert find(fitted, PROJECT, spec).stale_reason == "a trajectory was added, and it compares across groups"


def test_too_small_a_pool_forecasts_nothing_and_the_run_says_so(store: Store, tmp_path: Path) -> None:
    rows = pool(5)
    send(store, *rows)
    run = scored(store, ROBUST)
    [note] = [note for note in run.notes if note.code == "critic-too-small"]
    assert "their forecast is 0" in note.message
    rloo = rows_of(store, scored(store, "rloo")).replace(b'"attributor":"rloo"', b'"attributor":"doubly_robust"')
    assert rows_of(store, run) == rloo
    found = why(store, PROJECT, "ext:g0r1", ROBUST, SPAN)
    assert found.terms[0].value == 0.0


def test_what_a_critic_notes_is_kept_with_the_run(fitted: Store) -> None:
    noted = {note.code: note.message for note in find(fitted, PROJECT, ROBUST).notes}
    assert noted["critic"].startswith("critic compatible read 40 scored of 40 trajectories of 10 groups")
    assert "out-of-fold slope" in noted["critic-skill"]


def test_a_critic_that_fails_fails_the_run_with_its_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    send(store, *pool())

    def broken(*given: Any) -> Any:
        raise ValueError("no fit")

    monkeypatch.setitem(critics.KINDS, "compatible", broken)
    queued = ask_for(store, PROJECT, of_spec(ROBUST), Wanted())
    ended = see_through(store, PROJECT, queued.id, lambda done, total: None)
    assert ended.state == "failed"
    assert ended.error == "the critic 'compatible' of attributor 'doubly_robust' failed: ValueError: no fit"
    assert ended.critic is None


def test_a_run_cancelled_while_the_critic_reads_stays_cancelled(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    send(store, *pool())
    queued = ask_for(store, PROJECT, of_spec(ROBUST), Wanted())
    original = critics.fill

    def meanwhile(*given: Any) -> Any:
        with store.write() as conn:
            runs.cancel(conn, PROJECT, queued.id)
        return original(*given)

    monkeypatch.setattr(critics, "fill", meanwhile)
    ended = see_through(store, PROJECT, queued.id, lambda done, total: None)
    assert (ended.state, ended.done, ended.critic) == ("cancelled", 0, None)
