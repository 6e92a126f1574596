"""When a model is asked again, when not any more, and what is left of it where nobody listens."""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.judges.logs import log, said, user
from tests.judges.scripted import Asked, completion, fair, served
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.judges import Case, Means, segmented
from trajcredit.judges.answers import FileAnswers
from trajcredit.judges.llm import Llm
from trajcredit.judges.llm_asking import LONGEST_WAIT, Asker, StoppedError
from trajcredit.judges.llm_client import Reply
from trajcredit.judges.llm_prompt import questions
from trajcredit.judges.models import Model


def _cases(*texts: str) -> list[Case]:
    graphs = build_graphs([log(user("Go."), said(text), name=f"r{n}") for n, text in enumerate(texts)])
    return [Case(graph, segmented(graph, "action")) for graph in graphs]


def test_questions_that_are_refused_one_by_one_do_not_end_the_asking() -> None:
    """Six too long ones in a row, and then one that is not."""

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        return (400, {}) if "long" in json.dumps(asked.data) else fair(asked, number)

    with served(script) as server:
        means = Means(models={"m": server.model(concurrency=1)})
        found = list(Llm()(_cases(*(f"long {n}" for n in range(6)), "short"), means))
    assert [one.missing for one in found] == ["127.0.0.1 answered with status 400"] * 6 + [None]
    assert means.spent.away is None
    assert "response_format" in server.asked[-1].body, "that a question is refused says nothing of schemas"


def test_a_refused_key_ends_the_asking() -> None:
    with served(lambda asked, number: (401, {})) as server:
        means = Means(models={"m": server.model(concurrency=1)})
        found = list(Llm()(_cases(*(f"{n}" for n in range(9))), means))
    refused = "127.0.0.1 answered with status 401: api_key_env is not set"
    assert len(server.asked) == 1
    assert [one.missing for one in found] == [refused] + [f"not asked any more: {refused}"] * 8


def test_a_server_that_breaks_off_in_the_middle_of_its_answers_is_away() -> None:
    """Its answers are as long as it says but for the last byte, or in chunks of which the last is missing."""

    def short(asked: Asked, number: int) -> tuple[int, Any, dict[str, str]]:
        status, answer = fair(asked, number)
        return status, json.dumps(answer).encode()[:-1], {"Content-Length": str(len(json.dumps(answer)))}

    def chunked(asked: Asked, number: int) -> tuple[int, Any, dict[str, str]]:
        return 200, b"5\r\n{'cho\r\n", {"Transfer-Encoding": "chunked"}

    for script in (short, chunked):
        with served(script) as server:
            means = Means(models={"m": server.model(concurrency=1, attempts=1)})
            found = list(Llm()(_cases(*(f"{n}" for n in range(24))), means))
        assert len(server.asked) == 5, script
        why = "127.0.0.1 broke off in the middle of its answer; it was asked once"
        assert {one.missing for one in found[:5]} == {why}
        assert {one.missing for one in found[5:]} == {f"not asked any more: {why}"}


def test_a_private_address_is_never_asked_and_costs_nothing() -> None:
    with served(fair) as server:
        means = Means(models={"m": server.model(allow=())})
        with pytest.raises(InputError, match=r"judge llm: 127\.0\.0\.1 is at a private address"):
            list(Llm()(_cases("a", "b", "c"), means))
    assert (len(server.asked), means.spent.requests, means.spent.retries) == (0, 0, 0)


def test_that_a_server_takes_no_schema_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with (
        served(lambda asked, n: (422, {}) if "response_format" in asked.body else fair(asked, n)) as server,
        caplog.at_level(logging.WARNING),
    ):
        means = Means(models={"m": server.model(concurrency=1)})
        assert [one.missing for one in Llm()(_cases("a", "b", "c"), means)] == [None] * 3
    assert len(server.asked) == 4
    assert [one.getMessage() for one in caplog.records] == [
        "127.0.0.1 takes no JSON schema: it is asked in words alone"
    ]


def test_waits_grow_and_follow_what_the_server_asks_for_within_bounds() -> None:
    told: list[str | None] = [None, None, None, "7", "86400", "Wed, 21 Oct 2026 07:28:00 GMT", "-5"]
    replies = [Reply(503, b"", wait) for wait in told]
    waited = list[float]()
    [question] = questions(_cases("a")[0], "credit", 4000)
    rows = [{"id": "a1", "score": 0, "reason": ""}]
    replies.append(Reply(200, json.dumps(completion({"segments": rows})).encode()))
    model = Model("m", "https://models.example.com/v1", "x", attempts=len(replies))
    asker = Asker(model, Means(), {}, send=lambda *_: replies.pop(0), sleep=waited.append)
    assert asker.ask(question).scores == (0.0,)
    assert all(0.25 * 2**k <= waited[k] <= 0.5 * 2**k for k in range(3))
    assert waited[3:5] == [7.0, LONGEST_WAIT]
    assert all(LONGEST_WAIT / 4 <= one <= LONGEST_WAIT for one in waited[5:])


def test_whoever_stops_listening_pays_for_nothing_more() -> None:
    """Nine windows; the first verdict is not waited for, and the second question is never sent."""
    asked, go = threading.Event(), threading.Event()

    def script(one: Asked, number: int) -> tuple[int, Any]:
        asked.set()
        if number:
            go.wait(5)
        return fair(one, number)

    [long] = build_graphs([log(user("Go."), *(said("w" * 900) for _ in range(30)), name="long")])
    cases = [*_cases("short"), Case(long, segmented(long, "action"))]
    with served(script) as server:
        means = Means(models={"m": server.model(concurrency=1)})
        verdicts = Llm(characters=4000)(iter([*cases, *_cases("x", "y")]), means)
        next(verdicts)
        threading.Timer(0.05, go.set).start()
        verdicts.close()  # type: ignore[attr-defined]  # a generator
    assert len(list(questions(cases[1], "credit", 4000))) > 4
    assert len(server.asked) <= 2


def test_a_wait_ends_where_nobody_listens_any_more() -> None:
    """The server asks for half a minute, in which the listening ends."""
    waited = list[float | None]()

    class Ending(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waited.append(timeout)
            self.set()
            return True

    with served(lambda asked, number: (503, b"", {"Retry-After": "30"})) as server:
        asker = Asker(server.model(), Means(), {}, _ended=Ending())
        [question] = questions(_cases("a")[0], "credit", 4000)
        with pytest.raises(StoppedError):
            asker.ask(question)
    assert (len(server.asked), waited) == (1, [30.0])


def test_an_answer_is_kept_before_the_next_question_is_sent(tmp_path: Path) -> None:
    """So a process that is killed at any moment has on disk all that it paid for, but what was on its way."""
    path, on_disk = tmp_path / "answers.jsonl", list[int]()

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        on_disk.append(len(path.read_bytes().splitlines()))
        return fair(asked, number)

    with served(script) as server, FileAnswers(path) as answers:
        means = Means(answers=answers, models={"m": server.model(concurrency=1)})
        assert len(list(Llm()(_cases("a", "b", "c"), means))) == 3
    assert on_disk == [0, 1, 2]


@pytest.mark.parametrize("text", ["precious", '{"trajectory_id": "a"}', '{"schema": "trajcredit.opinion/1"'])
def test_a_foreign_file_is_left_as_it_is_even_where_no_line_of_it_ends(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="expected a row of trajcredit"):
        FileAnswers(path)
    assert path.read_text() == text


@pytest.mark.parametrize("kept", [1, 12, 40, 60, 70])
def test_a_row_torn_anywhere_is_dropped_and_written_over(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "answers.jsonl"
    with FileAnswers(path) as answers:
        answers.put("one", b"1")
        whole = path.read_bytes()
        answers.put("two", b"2" * 30)
    path.write_bytes(path.read_bytes()[: len(whole) + kept])
    with FileAnswers(path) as answers:
        assert (answers.get("one"), answers.get("two")) == (b"1", None)
        answers.put("two", b"3")
    with FileAnswers(path) as answers:
        assert answers.get("two") == b"3"


def test_a_limit_in_cost_that_cannot_be_kept_is_no_limit_without_a_word() -> None:
    """Without prices it is refused; where the server counts nothing, the first answer ends the asking."""
    free = Means(models={"m": Model("m", "https://models.example.com/v1", "x")})
    with pytest.raises(InputError, match="max_cost cannot be kept, as the model 'm' has no price_in and no price_out"):
        Llm(max_cost=1.0).basis(free)

    def script(asked: Asked, number: int) -> tuple[int, Any]:
        status, answer = fair(asked, number)
        return status, {name: value for name, value in answer.items() if name != "usage"}

    with served(script) as server:
        means = Means(models={"m": server.model(concurrency=1, price_in=1.0)})
        found = list(Llm(max_cost=1.0)(_cases(*map(str, range(6))), means))
        assert len(server.asked) == 1
        why = "the limit in cost cannot be kept: the server does not count tokens"
        assert [one.missing for one in found] == [None, *[why] * 5]
        assert [one.missing for one in Llm()(_cases("a", "b"), means)] == [None, None], "without a limit it goes on"
