"""Judgings at work: an outage loses and falsifies nothing, resuming pays nothing twice, whoever dies is followed."""

from __future__ import annotations

import io
import json
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from tests.judges.scripted import Asked, Served, fair, served
from tests.service.uploads import PROJECT, rollout, scored, send
from trajcredit import registry
from trajcredit.errors import InputError, NotFoundError
from trajcredit.judges import Basis, Case, Means, Verdict
from trajcredit.judges.models import Model
from trajcredit.model import ACTION_KINDS
from trajcredit.service import judge_work, judgings, plugins, reasons, trusting_stored
from trajcredit.service.exporting import export
from trajcredit.service.judge_runner import JudgeRunner
from trajcredit.service.judge_work import judge
from trajcredit.service.judgings import JudgingView
from trajcredit.service.opining import opinions
from trajcredit.service.running import find as find_run
from trajcredit.store import Store, open_store
from trajcredit.store import judgings as kept
from trajcredit.store.sole import sole_runner

ROLLOUTS = [rollout(f"t{n}", n % 2, f"answer {n}") for n in range(6)]


def worked(store: Store, models: dict[str, Model] | None = None) -> JudgingView | None:
    """The oldest queued judging, worked on here."""
    with store.write() as conn:
        found = kept.claim(conn)
    if found is None:
        return None
    judge(store, found, models or {})
    return judgings.find(store, PROJECT, found.id)


def asked(store: Store, name: str = "rules", models: dict[str, Model] | None = None, **parameters: Any) -> str:
    return judgings.ask(store, PROJECT, name, parameters, models or {}).id


def told(store: Store, judging: str) -> list[dict[str, Any]]:
    out = io.BytesIO()
    judgings.export(store, PROJECT, judging, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def earned(store: Store, run: str) -> dict[str, list[float | None]]:
    """Trajectory -> credit of its actions."""
    out = io.BytesIO()
    export(store, PROJECT, run, plugins.exporter_of("jsonl"), out)
    found: dict[str, list[float | None]] = {}
    for row in map(json.loads, out.getvalue().splitlines()):
        if row["kind"] in ACTION_KINDS:
            found.setdefault(row["trajectory_id"], []).append(row["credit"])
    return found


def models_of(server: Served, **more: Any) -> dict[str, Model]:
    return {"mine": server.model(name="mine", **{"attempts": 1, "concurrency": 1, **more})}


def test_what_rules_say_is_kept_and_a_run_that_hears_it_gives_the_same_credit(store: Store) -> None:
    send(store, *ROLLOUTS)
    judging = asked(store)
    done = worked(store)
    assert done is not None
    assert (done.state, done.total, done.judged, done.missing, done.error) == ("done", 6, 6, 0, None)
    assert (done.scale, done.segments, done.requests) == ("state", "action", 0)
    by_judging = scored(store, f"judge:judge={judging}")
    by_name, by_default = scored(store, "judge:judge=rules"), scored(store, "judge")
    assert earned(store, by_judging.id) == earned(store, by_name.id) == earned(store, by_default.id)
    assert (by_judging.judge, by_name.judge, by_default.judge) == (judging, "rules", "rules")
    assert by_name.judge_fingerprint == by_default.judge_fingerprint != by_judging.judge_fingerprint
    why = reasons.why(store, PROJECT, "ext:t0", by_judging.id, 1)
    assert why.credit == earned(store, by_judging.id)["t0"][0]
    assert sum(term.value for term in why.terms) == pytest.approx(why.credit)


def test_an_outage_leaves_spans_unscored_and_resuming_pays_for_nothing_twice(store: Store) -> None:
    send(store, *ROLLOUTS)
    answered, up = list[str](), [False]

    def script(one: Asked, number: int) -> tuple[int, Any]:
        if len(answered) == 2 and not up[0]:
            return 503, b""
        answered.append(json.dumps(one.data))
        return fair(one, number)

    with served(script) as server:
        models = models_of(server, price_in=10_000.0)
        judging = asked(store, "llm", models)
        first = worked(store, models)
        assert first is not None
        assert (first.state, first.judged, first.missing, first.total) == ("incomplete", 2, 4, 6)
        assert first.error == "4 of 6 could not be judged"
        assert (first.model, first.requests, first.cost) == ("scripted", 6, 2.0)
        before = scored(store, f"judge:judge={judging}")
        said = [note.message for note in find_run(store, PROJECT, before.id).notes if note.code == "unjudged"]
        assert len(said) == 4
        assert all("status 503" in message for message in said)
        assert [earned(store, before.id)[f"t{n}"] for n in range(2, 6)] == [[None, None]] * 4
        assert None not in earned(store, before.id)["t0"]
        up[0] = True
        assert judgings.resume(store, PROJECT, judging).state == "queued"
        second = worked(store, models)
        assert second is not None
        assert (second.state, second.judged, second.missing, second.error) == ("done", 6, 0, None)
        assert (second.requests, second.cost) == (10, 6.0)
    assert len(answered) == len(set(answered)) == 6
    assert find_run(store, PROJECT, before.id).stale_reason == "a judge that it hears said more"
    after = scored(store, f"judge:judge={judging}")
    assert not any(None in credit for credit in earned(store, after.id).values())
    for name in ("t0", "t1"):
        assert earned(store, after.id)[name] == earned(store, before.id)[name]


def test_a_run_that_heard_half_of_a_judging_is_out_of_date_once_it_said_more(store: Store) -> None:
    send(store, *ROLLOUTS)
    heard = list[str]()

    def script(one: Asked, number: int) -> tuple[int, Any]:
        if number == 3:  # in the middle
            heard.append(scored(store, f"judge:judge={judging}").id)
        return fair(one, number)

    with served(script) as server:
        models = models_of(server)
        judging = asked(store, "llm", models)
        worked(store, models)
    [run] = [find_run(store, PROJECT, one) for one in heard]
    assert run.stale_reason == "a judge that it hears said more"
    assert find_run(store, PROJECT, scored(store, f"judge:judge={judging}").id).stale is False


def test_answers_are_shared_by_judgings_that_ask_the_same(store: Store) -> None:
    send(store, *ROLLOUTS)
    with served(fair) as server:
        models = models_of(server)
        for repeat, cached in ((0, 0), (0, 6), (1, 0)):
            asked(store, "llm", models, repeat=repeat)
            found = worked(store, models)
            assert found is not None
            assert (found.state, found.cached, found.requests) == ("done", cached, 6 - cached)
        assert len(server.asked) == 12


def test_a_model_that_is_away_for_good_ends_it_and_the_rest_is_not_asked_about(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_work, "WINDOW", 5)
    send(store, *(rollout(f"t{n}") for n in range(20)))
    with served(lambda one, number: (500, b"")) as server:
        models = models_of(server)
        asked(store, "llm", models)
        found = worked(store, models)
        assert found is not None
        assert (found.state, found.missing, found.total) == ("incomplete", 5, 20)
        assert "status 500" in str(found.error)
        assert len(server.asked) == 5


def test_who_cancels_is_heard_and_what_was_judged_stays(store: Store) -> None:
    send(store, *ROLLOUTS)
    name = [""]

    def script(one: Asked, number: int) -> tuple[int, Any]:
        if number == 2:
            judgings.cancel(store, PROJECT, name[0])
        return fair(one, number)

    with served(script) as server:
        models = models_of(server)
        name[0] = asked(store, "llm", models)
        found = worked(store, models)
        assert found is not None
        assert (found.state, found.missing) == ("cancelled", 0)
        assert 2 <= found.judged <= 4
        judgings.resume(store, PROJECT, name[0])
        found = worked(store, models)
        assert found is not None
        assert (found.state, found.judged, len(server.asked)) == ("done", 6, 6)


def test_a_process_that_dies_is_followed_by_one_that_goes_on(store: Store, url: str) -> None:
    send(store, *ROLLOUTS)
    with served(fair) as server:
        models = models_of(server)
        judging = asked(store, "llm", models)
        with store.write() as conn:
            claimed = kept.claim(conn)
        assert claimed is not None
        judge(store, claimed, models, stopped=lambda: len(server.asked) >= 3)  # and nobody says that it ended
        assert judgings.find(store, PROJECT, judging).state == "running"
        with open_store(url) as other:
            runner = JudgeRunner(other, models)
            runner.start()
            try:
                give_up = time.monotonic() + 30
                while (found := judgings.find(other, PROJECT, judging)).state != "done":
                    assert time.monotonic() < give_up, found
                    time.sleep(0.02)
            finally:
                runner.stop()
        assert found.judged == 6
        assert len(server.asked) == 6


def test_judges_do_not_hold_up_runs_and_one_process_judges_at_a_time(store: Store, url: str) -> None:
    with (
        open_store(url) as other,
        sole_runner(store) as runs,
        sole_runner(store, "judge") as ours,
        sole_runner(other, "judge") as theirs,
    ):
        assert (runs, ours, theirs) == (True, True, False)


def test_a_server_that_stops_asks_nothing_more_and_goes_on_later(store: Store) -> None:
    send(store, *ROLLOUTS)
    asking, go = threading.Event(), threading.Event()

    def script(one: Asked, number: int) -> tuple[int, Any]:
        asking.set()
        go.wait(10)
        return fair(one, number)

    with served(script) as server:
        models = models_of(server)
        judging = asked(store, "llm", models)
        runner = JudgeRunner(store, models)
        runner.start()
        assert asking.wait(10)
        stopping = threading.Thread(target=runner.stop)
        stopping.start()
        time.sleep(0.05)
        go.set()
        stopping.join(30)
        found = judgings.find(store, PROJECT, judging)
        assert (found.state, found.missing) == ("running", 0)
        assert len(server.asked) <= 2


def test_another_model_is_another_judging(store: Store) -> None:
    send(store, *ROLLOUTS)
    with served(lambda one, n: (500, b"") if n > 1 else fair(one, n)) as server:
        models = models_of(server)
        judging = asked(store, "llm", models)
        worked(store, models)
        judgings.resume(store, PROJECT, judging)
        found = worked(store, models_of(server, model="other"))
    assert found is not None
    assert (found.state, found.judged) == ("failed", 2)
    assert "is another one now" in str(found.error)


def test_what_cannot_be_asked_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="nothing to judge"):
        asked(store)
    send(store, *ROLLOUTS)
    model = Model("mine", "https://models.example.com/v1", "big")
    for name, models, parameters, said in (
        ("oracle", {}, {}, "no judge named 'oracle'"),
        ("rules", {}, {"x": 1}, "no parameter 'x'"),
        ("llm", {}, {}, "this server has none"),
        ("llm", {"mine": model}, {"model": "other"}, "no model named 'other'"),
        ("llm", {"mine": model, "two": model}, {}, "name one of the server's models"),
        ("llm", {"mine": model}, {"asks": "all"}, "parameter asks"),
        ("file", {}, {"path": "/etc/passwd"}, "no request names a file"),
    ):
        with pytest.raises(InputError, match=said):
            asked(store, name, models, **parameters)
    for spec, error in (("j_none", NotFoundError), ("/etc/passwd", InputError), ("llm", InputError)):
        with pytest.raises(error):
            scored(store, f"judge:judge={spec}")
    with pytest.raises(NotFoundError, match="no judging 'j_x'"):
        judgings.find(store, PROJECT, "j_x")
    asked(store)
    done = worked(store)
    assert done is not None
    with pytest.raises(InputError, match="is done"):
        judgings.resume(store, PROJECT, done.id)


def test_a_trajectory_that_is_replaced_has_no_opinion_any_more(store: Store) -> None:
    send(store, *ROLLOUTS)
    judging = asked(store)
    worked(store)
    send(store, rollout("t0", 1.0, "another answer"), replace=True)
    run = scored(store, f"judge:judge={judging}")
    assert earned(store, run.id)["t0"] == [None, None]
    assert None not in earned(store, run.id)["t1"]
    [note] = [note for note in run.notes if note.code == "unjudged"]
    assert "no opinion" in note.message


def test_opinions_are_shown_with_credit_and_reasons(store: Store) -> None:
    send(store, *ROLLOUTS)
    with served(fair) as server:
        models = models_of(server)
        asked(store)
        asked(store, "llm", models)
        worked(store)
        worked(store, models)
    by_model, by_rules = opinions(store, PROJECT, "ext:t0").items
    assert (by_model.judge, by_model.model, by_model.prompt_version, by_model.scale) == (
        "llm",
        "scripted",
        "2",
        "credit",
    )
    assert [(one.actions, one.score, one.credit, one.reason) for one in by_model.segments] == [
        ([1], 0.0, 0.0, "so it says"),
        ([3], 0.0, 0.0, "so it says"),
    ]
    assert by_rules.label == "rules"
    assert [one.credit for one in by_rules.segments] == pytest.approx([0.0, 0.0])


def test_a_judging_has_a_report_on_how_far_it_can_be_trusted(store: Store) -> None:
    send(store, *(rollout(f"t{n}", n % 2, group_id=f"g{n // 2}") for n in range(24)))
    first = asked(store)
    with pytest.raises(InputError, match="has judged nothing yet"):
        trusting_stored.of_judging(store, PROJECT, first)
    worked(store)
    second = asked(store)
    worked(store)
    found = trusting_stored.of_judging(store, PROJECT, first, against=second, draws=20)
    assert found.judge == "rules"
    [other] = found.reliability.agreement
    assert other.spearman.value in (None, 1.0)


@dataclass(frozen=True)
class Moody:
    """Fails from its second trajectory on."""

    scale: ClassVar[str] = "credit"
    segments: ClassVar[str] = "action"
    local: ClassVar[bool] = False

    def basis(self, means: Means) -> Basis:
        return Basis("moody")

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        for n, case in enumerate(cases):
            if n:
                raise RuntimeError("sk-secret in a traceback")
            yield Verdict((0.5,) * len(case.segments), 0.0)


def test_foreign_code_that_fails_takes_nothing_with_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.judges._plugins, "moody", Moody)
    send(store, *ROLLOUTS)
    judging = asked(store, "moody")
    found = worked(store)
    assert found is not None
    assert (found.state, found.judged, found.missing) == ("incomplete", 1, 5)
    assert {row.get("missing") for row in told(store, judging)} == {None, "the judge 'moody' failed: RuntimeError"}
