"""The model as judge against a scripted server: what is asked, believed, retried, kept, and what it costs."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.build import batch_of
from tests.judges.logs import call, log, result, said, user
from tests.judges.scripted import Asked, completion, fair, served
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.graph import build_graphs
from trajcredit.judges import Case, Means, Verdict, judge, segmented
from trajcredit.judges.answers import FileAnswers
from trajcredit.judges.llm import Llm
from trajcredit.judges.llm_asking import Asker
from trajcredit.judges.llm_prompt import questions
from trajcredit.judges.models import Model
from trajcredit.model import Trajectory

ASK = user("Which seat is free?")


class Kept(dict[str, bytes]):
    """Answers in memory."""

    def put(self, key: str, answer: bytes) -> None:
        self[key] = answer


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asker, "__init__", _quick(Asker.__init__))


def _quick(made: Any) -> Any:
    def init(self: Any, *given: Any, **named: Any) -> None:
        made(self, *given, **{"sleep": lambda seconds: None, **named})

    return init


def _run(name: str = "a") -> Trajectory:
    """Actions at spans 1 and 3; the first failed."""
    failed = result("no cabin of that name", error=True)
    return log(ASK, call("look", cabin="upper"), failed, said(f"All is well, {name}."), name=name)


def _cases(*runs: Trajectory, kind: str = "action") -> list[Case]:
    return [Case(graph, segmented(graph, kind)) for graph in build_graphs(list(runs))]


def _means(model: Model, **more: Any) -> Means:
    return Means(models={model.name: model}, **more)


def _judged(model: Model, *runs: Trajectory, by: Llm = Llm(), **more: Any) -> tuple[list[Verdict], Means]:  # noqa: B008
    means = _means(model, **more)
    return list(by(_cases(*runs), means)), means


def test_an_obedient_model_scores_every_segment_with_its_reason() -> None:
    with served(fair) as server:
        model = server.model(price_in=2.0, price_out=10.0)
        [verdict], means = _judged(model, _run())
    assert verdict == Verdict((0.0, 0.0), 0.0, ("so it says", "so it says"))
    assert (means.spent.requests, means.spent.retries, means.spent.cached) == (1, 0, 0)
    assert (means.spent.tokens_in, means.spent.tokens_out) == (100, 10)
    assert means.spent.cost == pytest.approx((100 * 2 + 10 * 10) / 1e6)
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert (asked.body["model"], asked.body["temperature"]) == ("scripted", 0.0)
    assert "tools" not in asked.body
    assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["segments"]
    assert [one["judged"] for one in asked.data["segments"]] == [[1], [3]]
    assert [one["span"] for one in asked.data["context"]] == [0, 2]


def test_no_outcome_and_no_identity_is_told() -> None:
    with served(fair) as server:
        for outcome in (0.0, 1.0):
            _judged(server.model(), log(ASK, said("None."), name="secret-name", outcome=outcome))
    one, two = (asked.data for asked in server.asked)
    assert one == two
    assert "secret-name" not in json.dumps(one)


def test_states_are_asked_for_with_where_it_starts() -> None:
    def script(asked: Asked, number: int) -> tuple[int, Any]:
        rows = [{"id": name, "score": 0.25 * (k + 1), "reason": ""} for k, name in enumerate(asked.ids)]
        return 200, completion({"start": 0.75, "segments": rows})

    with served(script) as server:
        batch = judge(batch_of(_run()), Llm(asks="state"), _means(server.model()))
    assert batch.score_start.tolist() == [0.75]
    assert batch.scores[[1, 3]].tolist() == [0.25, 0.5]


def test_a_long_trajectory_is_asked_about_in_windows_each_segment_once() -> None:
    long = log(ASK, *(said(f"{n} {'word ' * 100}") for n in range(40)), name="long")
    with served(fair) as server:
        [verdict], _ = _judged(server.model(), long, by=Llm(characters=4000))
    asked = [name for one in server.asked for name in one.ids]
    assert len(verdict.scores) == 40
    assert len(asked) == len(set(asked)) == 40
    assert len(server.asked) > 3
    for one in server.asked:
        assert len(one.body["messages"][1]["content"]) < 4000 * 2
    assert "characters left out" in server.asked[0].body["messages"][1]["content"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("I like it", "not JSON"),
        ({"segments": 1}, "no list"),
        ([], "no list"),
        ({"segments": [{"id": "a9", "score": 0, "reason": ""}]}, "not asked about"),
        ({"segments": [{"id": 1, "score": 0, "reason": ""}]}, "not asked about"),
        ({"segments": [{"id": "a1", "score": 0, "reason": ""}]}, "leaves out a2"),
        ({"segments": [{"id": "a1", "score": 0, "reason": ""}] * 2}, "a1 twice"),
        ({"segments": [{"id": "a1", "score": 1.5, "reason": ""}]}, "no number from -1 to 1"),
        ({"segments": [{"id": "a1", "score": True, "reason": ""}]}, "no number"),
        ({"segments": [{"id": "a1", "score": "1", "reason": ""}]}, "no number"),
        ({"segments": [{"id": "a1", "score": None, "reason": ""}]}, "no number"),
        ({"segments": [{"id": "a1", "score": 0, "reason": ["x"]}]}, "no text"),
        ('{"segments": [{"id": "a1", "score": NaN, "reason": ""}]}', "not JSON"),
        ('{"segments": [{"id": "a1", "score": 1e999, "reason": ""}]}', "no number"),
        ('{"segments": [], "segments": []}', "says one thing twice"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_wrong_answer_is_asked_for_again_and_then_nothing_of_it_counts(answer: Any, said: str) -> None:
    kept = Kept()
    with served(lambda asked, number: (200, completion(answer))) as server:
        [verdict], means = _judged(server.model(), _run(), answers=kept)
    assert verdict.scores == (None, None)
    assert said in str(verdict.missing)
    assert str(verdict.missing).endswith("asked 2 times")
    assert (len(server.asked), means.spent.requests, means.spent.retries) == (2, 2, 1)
    assert not kept


@pytest.mark.parametrize("body", [b"", b"<html>", {"choices": []}, {"choices": [{"message": {"content": None}}]}, 7])
def test_what_is_no_completion_is_not_believed(body: Any) -> None:
    with served(lambda asked, number: (200, body)) as server:
        [verdict], _ = _judged(server.model(), _run())
    assert verdict.missing is not None


def test_fences_and_lists_of_parts_are_read() -> None:
    def script(asked: Asked, number: int) -> tuple[int, Any]:
        rows = [{"id": name, "score": -1, "reason": "x" * 900} for name in asked.ids]
        text = f"```json\n{json.dumps({'segments': rows})}\n```"
        found = completion("")
        found["choices"][0]["message"]["content"] = [{"type": "text", "text": text}]
        return 200, found

    with served(script) as server:
        [verdict], _ = _judged(server.model(), _run())
    assert verdict.scores == (-1.0, -1.0)
    assert len(verdict.reasons[0]) == 500


def test_a_server_that_knows_no_schema_is_asked_in_words_alone() -> None:
    def script(asked: Asked, number: int) -> tuple[int, Any]:
        return (400, {}) if "response_format" in asked.body else fair(asked, number)

    with served(script) as server:
        verdicts, _ = _judged(server.model(concurrency=1), _run("a"), _run("b"))
    assert [verdict.missing for verdict in verdicts] == [None, None]
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_busy_server_is_asked_again(status: int) -> None:
    with served(lambda asked, n: fair(asked, n) if n == 2 else (status, b"busy", {"Retry-After": "1"})) as server:
        [verdict], means = _judged(server.model(), _run())
    assert verdict.missing is None
    assert (means.spent.requests, means.spent.retries) == (3, 2)


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (301, ": redirects are not followed, base_url has to be where it leads"),
        (401, ": api_key_env is not set"),
        (403, ": api_key_env is not set"),
        (404, ": does base_url end where the API begins, and is there a model 'scripted'?"),
        (501, ""),
    ],
)
def test_what_asking_again_cannot_help_is_not_asked_again(status: int, hint: str) -> None:
    with served(lambda asked, number: (status, b"no")) as server:
        [verdict], _ = _judged(server.model(), _run())
    assert verdict.missing == f"127.0.0.1 answered with status {status}{hint}"
    assert len(server.asked) == 1


def test_a_slow_model_is_given_up_and_the_rest_goes_on() -> None:
    over = threading.Event()

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        if "All is well, slow." in json.dumps(asked.data):
            over.wait(5)
        return fair(asked, number)

    with served(script) as server:
        verdicts, _ = _judged(server.model(timeout=0.2, attempts=1), _run("slow"), _run("b"))
        over.set()
    assert [verdict.missing for verdict in verdicts] == ["127.0.0.1 took longer than 0.2 s; it was asked once", None]


def test_an_outage_is_said_of_every_trajectory_and_ends_the_asking() -> None:
    with served(lambda asked, number: (503, b"")) as server:
        verdicts, means = _judged(server.model(attempts=2, concurrency=1), *(_run(f"r{n}") for n in range(12)))
    assert all(verdict.missing and "status 503" in verdict.missing for verdict in verdicts)
    assert len(verdicts) == 12
    assert len(server.asked) == means.spent.requests == 10  # five questions, two tries; then it counts as away


def test_resuming_after_an_outage_pays_nothing_twice(tmp_path: Path) -> None:
    """Twelve runs; the server dies after five answers, and comes back."""
    runs, answered = [_run(f"r{n}") for n in range(12)], list[str]()
    down = threading.Event()

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        if len(answered) == 5 and not down.is_set():
            return 503, b""
        answered.append(json.dumps(asked.data))
        return fair(asked, number)

    with served(script) as server:
        model = server.model(attempts=1, concurrency=1)
        with FileAnswers(tmp_path / "answers.jsonl") as answers:
            first, before = _judged(model, *runs, answers=answers)
        down.set()
        with (tmp_path / "answers.jsonl").open("ab") as file:
            file.write(b'{"schema": "trajcredit.answ')  # a process died while it wrote
        with FileAnswers(tmp_path / "answers.jsonl") as answers:
            second, after = _judged(model, *runs, answers=answers)
    assert [verdict.missing is None for verdict in first] == [True] * 5 + [False] * 7
    assert [verdict.missing for verdict in second] == [None] * 12
    assert second[:5] == first[:5]
    assert (before.spent.tokens_in, after.spent.tokens_in) == (500, 700)
    assert (after.spent.requests, after.spent.cached) == (7, 5)
    assert len(answered) == len(set(answered)) == 12


def test_an_outage_takes_no_credit_and_no_blame_from_others() -> None:
    runs = [_run("a"), _run("b")]
    with served(lambda asked, n: (500, b"") if "b." in json.dumps(asked.data) else fair(asked, n)) as server:
        batch = judge(batch_of(*runs), Llm(), _means(server.model(attempts=1)))
    assert str(batch.scores.tolist()) == "[nan, 0.0, nan, 0.0, nan, nan, nan, nan]"
    [note] = [note for note in batch.notes if note.code == "unjudged"]
    assert note.trajectory == "b"
    assert "its spans are not scored" in note.message


def test_repeats_are_questions_of_their_own_and_delimiters_are_not() -> None:
    kept = Kept()
    with served(fair) as server:
        for repeat in (0, 0, 1):
            _judged(server.model(), _run(), by=Llm(repeat=repeat), answers=kept)
    assert len(server.asked) == 2
    assert server.asked[0].body["messages"] != server.asked[1].body["messages"]
    assert server.asked[0].data == server.asked[1].data
    assert len(kept) == 2


def test_a_kept_answer_that_does_not_fit_is_asked_for_again() -> None:
    kept = Kept()
    with served(fair) as server:
        [good], _ = _judged(server.model(), _run(), answers=kept)
        for spoilt in (b"", b"{}", b'{"scores": [9, 9], "reasons": ["", ""], "start": null}'):
            kept[next(iter(kept))] = spoilt
            [found], means = _judged(server.model(), _run(), answers=kept)
            assert (found, means.spent.requests) == (good, 1)


def test_limits_end_the_asking_and_say_so() -> None:
    runs = [_run(f"r{n}") for n in range(4)]
    with served(fair) as server:
        model = server.model(concurrency=1, price_in=1000.0)
        verdicts, _ = _judged(model, *runs, by=Llm(max_requests=2))
        assert [verdict.missing for verdict in verdicts[2:]] == ["the limit of 2 requests is reached"] * 2
        verdicts, means = _judged(model, *runs, by=Llm(max_cost=0.15))
    assert [verdict.missing for verdict in verdicts] == [None, None, *["the limit of 0.15 in cost is reached"] * 2]
    assert means.spent.cost == pytest.approx(0.2)


def test_no_more_is_asked_at_once_than_the_model_allows() -> None:
    def script(asked: Asked, number: int) -> tuple[int, Any]:
        threading.Event().wait(0.02)
        return fair(asked, number)

    runs = [_run(f"r{n}") for n in range(12)]
    with served(script) as server:
        verdicts, _ = _judged(server.model(concurrency=3), *runs)
    assert [verdict.missing for verdict in verdicts] == [None] * 12
    assert 2 <= server.peak <= 3


def test_a_stop_ends_it_and_what_was_answered_is_kept() -> None:
    kept = Kept()
    with served(fair) as server:
        verdicts, _ = _judged(
            server.model(concurrency=1),
            *(_run(f"r{n}") for n in range(9)),
            answers=kept,
            stopped=lambda: len(kept) >= 3,
        )
    assert len(verdicts) <= len(kept) == 3
    assert all(verdict.missing is None for verdict in verdicts)


def test_answers_that_are_not_counted_are_said() -> None:
    with served(lambda asked, n: (200, {**fair(asked, n)[1], "usage": {"prompt_tokens": "many"}})) as server:
        _, means = _judged(server.model(price_in=1.0), _run())
    assert (means.spent.uncounted, means.spent.tokens_in, means.spent.cost) == (1, 0, 0.0)


def test_the_basis_follows_from_what_is_asked_and_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model("m", "https://models.example.com/v1", "big", api_key_env="MODEL_KEY")
    with pytest.raises(InputError, match="MODEL_KEY is not set"):
        Llm().basis(_means(model))
    monkeypatch.setenv("MODEL_KEY", "sk-secret-123")
    basis = Llm().basis(_means(model))
    assert basis == Llm().basis(_means(replace(model, concurrency=9)))
    assert basis.model == "big"
    others = [Llm(asks="state"), Llm(repeat=1), Llm(temperature=None), Llm(characters=9000)]
    assert len({one.basis(_means(model)).fingerprint for one in [Llm(), *others]}) == 5
    assert "sk-secret-123" not in repr(model) + repr(basis)


def test_what_is_not_configured_is_said() -> None:
    one, two = (Model(name, "https://models.example.com/v1", "big") for name in "xy")
    with pytest.raises(InputError, match="no model is configured"):
        Llm().basis(Means())
    with pytest.raises(InputError, match="name one with model=: x, y"):
        Llm().basis(Means(models={"x": one, "y": two}))
    with pytest.raises(UnknownNameError, match="configured model named 'z'"):
        Llm(model="z").basis(Means(models={"x": one}))
    for wrong in ({"asks": "both"}, {"characters": 10}, {"temperature": 3.0}, {"repeat": -1}):
        with pytest.raises(InputError, match="judge llm"):
            Llm(**wrong)
    with pytest.raises(UnknownNameError, match="kind of segment"):
        Llm(segments="chapter")


def test_answers_in_a_file_are_for_one_process_and_for_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with FileAnswers(path) as answers:
        answers.put("k", b"\x00answer\n")
        with pytest.raises(InputError, match="another process"):
            FileAnswers(path)
    with FileAnswers(path) as answers:
        assert (answers.get("k"), answers.get("x")) == (b"\x00answer\n", None)
    path.write_text('{"trajectory_id": "a"}\n')
    with pytest.raises(InputError, match=r"answers\.jsonl:1: expected a row of trajcredit\.answer/1"):
        FileAnswers(path)


def test_windows_ask_about_each_segment_once_whatever_the_size() -> None:
    runs = [log(ASK, *(said("w" * n) for n in sizes), name="r") for sizes in ([0], [5000] * 9, [10] * 300, [])]
    for case in _cases(*runs):
        asked = [k for question in questions(case, "credit", 2000) for k in question.segments]
        assert asked == list(range(len(case.segments)))
