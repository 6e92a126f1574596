"""Questions to a model until there is an answer to believe: kept ones first, retries, limits, what it cost."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

from trajcredit.errors import JudgeError
from trajcredit.judges.addresses import ForbiddenError
from trajcredit.judges.base import Means
from trajcredit.judges.llm_answer import Answer, MalformedError, accepted, from_kept, said, to_kept, usage
from trajcredit.judges.llm_client import AwayError, Reply, post
from trajcredit.judges.llm_prompt import Question, messages, schema
from trajcredit.judges.models import Model

__all__ = ["Asker", "StoppedError"]

_log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds before a question is sent again: doubled each time, and half of it by chance."""
MALFORMED = 2
"""How often a question is put where answers have not the form asked for."""
IN_A_ROW = 5
"""Questions in a row without any answer after which the server counts as away for good."""
OWN = frozenset({400, 413, 422})
"""Answers about one question, such as that it is too long: the server is there, and the next may be answered."""
BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
AT_ONCE = frozenset({301, 302, 303, 307, 308, 401})
"""Answers that no other question would change: after one of them nothing more is asked."""


class StoppedError(JudgeError):
    """Somebody stopped the asking: no fault of the model."""


@dataclass
class Asker:
    """One model, asked by several threads. What is counted and kept is in `means`."""

    model: Model
    means: Means
    given: dict[str, Any]
    """More of the request, such as the temperature."""
    max_requests: int | None = None
    max_cost: float | None = None
    send: Callable[[Model, str, bytes], Reply] = post
    sleep: Callable[[float], object] | None = None
    """Waits before a question is sent again; none = for so many seconds, or until `end`."""
    _lock: Lock = field(default_factory=Lock)
    _away: int = 0
    _gone: str | None = None
    _plain: bool = False
    _blind: bool = False
    """Whether an answer came whose tokens the server did not count: then what it cost is not known."""
    _ended: Event = field(default_factory=Event)

    def end(self) -> None:
        """Nobody waits for answers any more: nothing is sent from now on."""
        self._ended.set()

    def ask(self, question: Question, *also: object) -> Answer:
        """The answer that is kept, else a new one, which is kept before it is returned.

        JudgeError says why there is none; StoppedError where somebody stopped it.
        """
        key = question.digest(self.model.model, self.model.base_url, self.given, *also)
        kept = self.means.answers.get(key)
        answer = None if kept is None else from_kept(kept, question)
        if answer is not None:
            with self._lock:
                self.means.spent.cached += 1
            return answer
        for attempt in range(MALFORMED):
            body = self._answered(question, again=attempt > 0)
            try:
                answer = accepted(said(body), question, self.model.key())
            except MalformedError as error:
                last = error
                continue
            self.means.answers.put(key, to_kept(answer))
            return answer
        raise MalformedError(f"{last}; it was asked {MALFORMED} times")

    def _answered(self, question: Question, again: bool) -> bytes:
        """The body of an answer with status 200.

        A server that refuses the request is asked once in words alone; if it answers that, it knows no schemas, and
        none is sent from then on.
        """
        why, plain = "", self._plain
        left = self.model.attempts
        while left:
            self._may_ask(again)
            sent_again, again, wait, left = again, True, None, left - 1
            try:
                reply = self.send(self.model, "/chat/completions", self._body(question, plain))
            except AwayError as error:
                why = str(error)
            except ForbiddenError:
                self._unsent(sent_again)
                raise
            else:
                if reply.status == 200:
                    self._heard(reply.body, plain)
                    return reply.body
                why, wait = f"{self.model.host} answered with status {reply.status}", reply.retry_after
                if reply.status in (400, 422) and not plain:
                    plain, left = True, self.model.attempts
                    continue
                if reply.status not in BUSY:
                    refused = JudgeError(why + _hint(self.model, reply.status))
                    raise self._failed(refused, reply.status not in OWN, reply.status in AT_ONCE)
            if left:
                (self.sleep or self._ended.wait)(_wait(self.model.attempts - left - 1, wait))
        times = "once" if self.model.attempts == 1 else f"{self.model.attempts} times"
        raise self._failed(AwayError(f"{why}; it was asked {times}"))

    def _may_ask(self, again: bool) -> None:
        """Count a request, or say why it may not be sent."""
        if self._ended.is_set() or self.means.stopped():
            raise StoppedError("it was stopped")
        spent = self.means.spent
        with self._lock:
            if self._gone is not None:
                raise AwayError(f"not asked any more: {self._gone}")
            if self.max_requests is not None and spent.requests >= self.max_requests:
                raise JudgeError(f"the limit of {self.max_requests:,} requests is reached")
            if self.max_cost is not None and self._blind:
                raise JudgeError("the limit in cost cannot be kept: the server does not count tokens")
            if self.max_cost is not None and spent.cost >= self.max_cost:
                raise JudgeError(f"the limit of {self.max_cost:g} in cost is reached")
            spent.requests += 1
            spent.retries += again

    def _heard(self, body: bytes, plain: bool) -> None:
        counts = usage(body)
        with self._lock:
            self._away = 0
            if plain and not self._plain:
                self._plain = True
                _log.warning("%s takes no JSON schema: it is asked in words alone", self.model.host)
            if counts is None:
                self.means.spent.uncounted += 1
                self._blind = True
            else:
                self.means.spent.tokens_in += counts[0]
                self.means.spent.tokens_out += counts[1]
                self.means.spent.cost += self.model.cost(*counts)

    def _unsent(self, again: bool) -> None:
        """No request after all."""
        with self._lock:
            self.means.spent.requests -= 1
            self.means.spent.retries -= again

    def _failed(self, error: JudgeError, counts: bool = True, at_once: bool = False) -> JudgeError:
        """The error, which ends the asking at once, or if it `counts` and is one of several in a row."""
        with self._lock:
            self._away = self._away + 1 if counts else 0
            if (at_once or self._away >= IN_A_ROW) and self._gone is None:
                self._gone = self.means.spent.away = str(error)
        return error

    def _body(self, question: Question, plain: bool) -> bytes:
        asked: dict[str, Any] = {"model": self.model.model, "messages": messages(question), **self.given}
        if not plain:
            form = {"name": "judgement", "strict": True, "schema": schema(question.scale)}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        return json.dumps(asked).encode()


def _hint(model: Model, status: int) -> str:
    """What an operator can do about it."""
    if status in (401, 403):
        key = "api_key_env is not set" if model.api_key_env is None else f"is the key in {model.api_key_env} right?"
        return f": {key}"
    if status == 404:
        return f": does base_url end where the API begins, and is there a model {model.model!r}?"
    return ": redirects are not followed, base_url has to be where it leads" if 300 <= status < 400 else ""


def _wait(attempt: int, told: str | None) -> float:
    """Seconds: what the server asks for, within bounds, else twice as long each time, half of it by chance."""
    if told is not None and told.strip().isdecimal():
        return min(float(told), LONGEST_WAIT)
    longest = min(FIRST_WAIT * 2.0**attempt, LONGEST_WAIT)
    return longest / 2 + random.random() * longest / 2  # noqa: S311 - nobody gains from foreseeing it
