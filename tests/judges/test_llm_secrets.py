"""T13: the key of a judge's model is in no log, no error, no verdict and no kept answer."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.build import batch_of
from tests.judges.logs import log, said, user
from tests.judges.scripted import Asked, completion, served
from trajcredit.judges import Means, judge
from trajcredit.judges.answers import FileAnswers
from trajcredit.judges.llm import Llm
from trajcredit.judges.llm_client import Reply

SECRET = "sk-live-0123456789abcdef"
RUN = log(user("Go."), said("Gone."))


def _echo(asked: Asked, number: int) -> tuple[int, Any]:
    rows = [{"id": name, "score": 0.5, "reason": f"{asked.headers['Authorization']} says so"} for name in asked.ids]
    return 200, completion({"segments": rows})


def _escaped(asked: Asked, number: int) -> tuple[int, Any]:
    """The key with each letter as an escape: it appears once the answer is decoded."""
    text = "".join(f"\\u{ord(c):04x}" for c in asked.headers["Authorization"])
    rows = ",".join(f'{{"id": "{name}", "score": 0.5, "reason": "{text}"}}' for name in asked.ids)
    return 200, completion(f'{{"segments": [{rows}]}}')


SCRIPTS = {
    "echoes it": _echo,
    "echoes it in escapes": _escaped,
    "fails with it": lambda asked, n: (500, asked.headers["Authorization"].encode()),
    "refuses with it": lambda asked, n: (401, {"error": asked.headers["Authorization"]}),
    "sends it elsewhere": lambda asked, n: (302, b"", {"Location": f"https://x.example/{SECRET}"}),
    "waits by it": lambda asked, n: (503, b"", {"Retry-After": SECRET}),
    "rambles with it": lambda asked, n: (200, completion(f"the key is {SECRET}")),
    "is no server": lambda asked, n: (200, f"{SECRET}\r\n".encode()),
}


@pytest.mark.parametrize("script", list(SCRIPTS.values()), ids=list(SCRIPTS))
def test_t13_a_key_is_nowhere_but_in_the_request(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    monkeypatch.setenv("MODEL_KEY", SECRET)
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "answers.jsonl"
    with served(script) as server, FileAnswers(path) as answers:
        model = server.model(api_key_env="MODEL_KEY", attempts=1)
        means = Means(answers=answers, models={"m": model})
        batch = judge(batch_of(RUN), Llm(), means)
        basis = Llm().basis(means)
    assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    told = [repr(batch.notes), repr(batch.findings), repr(batch.scores), repr(model), repr(means), repr(basis)]
    told += [caplog.text, *capfd.readouterr(), path.read_text(), *(json.dumps(a.body) for a in server.asked)]
    assert [text for text in told if SECRET in text] == []
    kept = [json.loads(line)["answer"] for line in path.read_text().splitlines()]
    assert not any(SECRET.encode() in base64.b64decode(one) for one in kept)


def test_t13_a_failing_connection_does_not_quote_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", SECRET)
    with served(lambda asked, n: (200, b"")) as server:
        model = server.model(api_key_env="MODEL_KEY", attempts=1)
    batch = judge(batch_of(RUN), Llm(), Means(models={"m": model}))  # nobody listens any more
    [note] = [note for note in batch.notes if note.code == "unjudged"]
    assert "cannot be reached" in note.message
    assert SECRET not in repr(batch.notes)


def test_t13_an_answer_does_not_show_its_bytes() -> None:
    assert "secret" not in repr(Reply(200, b"secret"))
