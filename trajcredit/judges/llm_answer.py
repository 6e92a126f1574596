"""What a model answered, believed only where it has the form asked for: known ids, each once, numbers in range."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from trajcredit.errors import JudgeError
from trajcredit.judges.base import Scale
from trajcredit.judges.llm_client import redacted
from trajcredit.judges.llm_prompt import Question

__all__ = ["Answer", "MalformedError", "accepted", "from_kept", "said", "to_kept", "usage"]

LONGEST_REASON = 500
RANGE: dict[Scale, tuple[float, float]] = {"credit": (-1.0, 1.0), "state": (0.0, 1.0)}
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


class MalformedError(JudgeError):
    """The model answered, and not in the form it was asked for. Nothing of such an answer is used."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Scores and reasons in the order of the question's segments; `start` on the scale `state`."""

    scores: tuple[float, ...]
    reasons: tuple[str, ...]
    start: float | None = None


def said(body: bytes) -> str:
    """The text of a chat completion."""
    found = _json(body.decode("utf-8", "replace"), "the server's answer")
    try:
        choice = found["choices"][0]
        content = choice["message"]["content"]
        cut = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError):
        raise MalformedError("the server's answer is no chat completion") from None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str) or not content.strip():
        raise MalformedError("the model said nothing")
    if cut:
        raise MalformedError("the model's answer was cut off by the server's limit of tokens")
    return content


def usage(body: bytes) -> tuple[int, int] | None:
    """Tokens of question and answer; null where the server does not say."""
    try:
        found = json.loads(body)["usage"]
        counts = found["prompt_tokens"], found["completion_tokens"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    good = all(type(count) is int and 0 <= count < 1 << 40 for count in counts)
    return counts if good else None


def accepted(content: str, question: Question, key: str | None = None) -> Answer:
    """The answer to a question; MalformedError says what is wrong with it, and quotes none of it."""
    fenced = _FENCE.match(content)
    found = _json(fenced[1] if fenced else content, "the model's answer")
    listed = found.get("segments") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise MalformedError("the model's answer has no list `segments`")
    known, given = set(question.ids), dict[str, tuple[float, str]]()
    for one in listed:
        if not isinstance(one, dict) or not isinstance(one.get("id"), str) or one["id"] not in known:
            raise MalformedError("the model's answer judges a segment that it was not asked about")
        if one["id"] in given:
            raise MalformedError(f"the model's answer judges {one['id']} twice")
        reason = one.get("reason", "")
        if not isinstance(reason, str):
            raise MalformedError(f"the model's reason for {one['id']} is no text")
        score = _score(one.get("score"), question.scale, f"score of {one['id']}")
        given[one["id"]] = score, redacted(reason, key)[:LONGEST_REASON].encode("utf-8", "replace").decode()
    missing = [name for name in question.ids if name not in given]
    if missing:
        raise MalformedError(f"the model's answer leaves out {missing[0]}" + (", and others" if missing[1:] else ""))
    start = _score(found.get("start"), "state", "start") if question.scale == "state" else None
    scores, reasons = zip(*(given[name] for name in question.ids), strict=True)
    return Answer(scores, reasons, start)


def to_kept(answer: Answer) -> bytes:
    """As it is kept: nothing but what was believed."""
    return json.dumps({"scores": answer.scores, "reasons": answer.reasons, "start": answer.start}).encode()


def from_kept(kept: bytes, question: Question) -> Answer | None:
    """What `to_kept` gave; null where it is no answer to such a question, so that it is asked again."""
    try:
        found = json.loads(kept)
        given = zip(question.ids, found["scores"], found["reasons"], strict=True)
        rows = [{"id": name, "score": score, "reason": reason} for name, score, reason in given]
        return accepted(json.dumps({"start": found["start"], "segments": rows}), question)
    except (ValueError, KeyError, TypeError, MalformedError):
        return None


def _score(value: Any, scale: Scale, what: str) -> float:
    low, high = RANGE[scale]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise MalformedError(f"the model's {what} is no number from {low:g} to {high:g}")
    return float(value)


def _json(text: str, whose: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise MalformedError(f"{whose} is not JSON, or says one thing twice") from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found
