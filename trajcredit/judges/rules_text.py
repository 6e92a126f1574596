"""Rules on what agents write: (action, how much of the rule's severity counts, reason) of each fault."""

from __future__ import annotations

import re
from math import exp

from trajcredit.judges.reading import Found, Reading, code_in, quoted

__all__ = [
    "claim_without_effect",
    "empty_turn",
    "format_drift",
    "ignored_failure",
    "invented_value",
]

_OWNS_UP = re.compile(
    r"\b(?:errors?|fail(?:ed|s|ure)?|not|no|none|nothing|can't|cannot|couldn't|didn't|doesn't|wasn't|isn't|unable|unfortunately|sorry"
    r"|issues?|problems?|incorrect|wrong|invalid|missing|instead|retry|again|fix(?:ed)?|correct(?:ed|ion)?)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:ha(?:s|ve) (?:now )?been|was|were) successfully \w+"
    r"|\bI(?:'ve| have) (?:now |just |successfully )*(?:added|booked|cancel+ed|changed|created|deleted|issued|made"
    r"|moved|ordered|placed|removed|replaced|saved|sent|submitted|updated|written)\b",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"<(?:tool_call|function_calls?|invoke)\b[^<]{0,400}"
    r"|<function=\w+[^<]{0,400}"
    r"|\[TOOL_CALLS\].{0,400}"
    r'|\{\s*"(?:name|function|tool)"\s*:\s*"[\w.-]{1,100}"\s*,\s*"(?:arguments|parameters|args|input)"\s*:.{0,400}',
    re.DOTALL,
)
SETTLED = 2
"""Calls in one form after which another form is a drift."""
SEVERAL = 3.0
"""Invented figures that count 1 - 1/e."""


def ignored_failure(reading: Reading) -> Found:
    """Right after a failure: words alone, no call, no code, none that owns up to it."""
    for before, i in zip(reading.actions, reading.actions[1:], strict=False):
        failed = [
            k for k in range(before + 1, i) if reading.spans[k].kind == "tool_result" and reading.graph.is_error[k]
        ]
        span = reading.spans[i]
        alone = span.kind == "assistant" and not code_in(span) and span.turn not in reading.calling
        if failed and alone and span.text.strip() and not _OWNS_UP.search(span.text):
            yield i, 1.0, f"right after {quoted(reading.spans[failed[-1]].text)} it says {quoted(span.text)}"


def empty_turn(reading: Reading) -> Found:
    """A text without a letter or digit in a turn without a call."""
    for i in reading.actions:
        span = reading.spans[i]
        if span.kind == "assistant" and not any(map(str.isalnum, span.text)) and span.turn not in reading.calling:
            yield i, 1.0, f"the whole turn is {quoted(span.text)}"


def format_drift(reading: Reading) -> Found:
    """A call that is written as words, where others of the agent are made: nothing runs it. Or the other way round."""
    made = [i for i in reading.actions if reading.spans[i].kind == "tool_call"]
    written = {i for i in made if reading.spans[i].inferred}
    native = [i for i in made if i not in written]
    before: list[int] = []
    for i in made:
        others = [k for k in before if (k in written) != (i in written)]
        if len(others) >= SETTLED and len(others) == len(before):
            form = "as text" if i in written else "as a call"
            other = "calls" if i in written else "text"
            yield i, 1.0, f"it is written {form}, and the {len(others)} before it as {other}"
        before.append(i)
    for i in reading.actions:
        span = reading.spans[i]
        earlier = sum(k < i for k in native)
        if span.kind == "assistant" and earlier >= SETTLED and (found := _CALL.search(span.text)):
            yield i, 1.0, f"a call in words, which nothing ran: {quoted(found[0])}"


def invented_value(reading: Reading) -> Found:
    """Numbers and codes in a text, or in code to run, that no earlier span has; the more, the graver."""
    for i in reading.actions:
        span = reading.spans[i]
        if span.kind == "assistant" or (span.kind == "tool_call" and code_in(span)):
            new = reading.invented(i)
            if new:
                more = f" and {len(new) - 3} more" if len(new) > 3 else ""
                said = ", ".join(map(quoted, new[:3]))
                yield i, 1.0 - exp(-len(new) / SEVERAL), f"nothing before says {said}{more}"


def claim_without_effect(reading: Reading) -> Found:
    """A text that reports something done while no call has changed anything, in a run that has tools."""
    if not any(span.kind == "tool_call" for span in reading.spans) and not reading.trajectory.tools:
        return
    changed = False
    for i, span in enumerate(reading.spans):
        if span.kind == "tool_call":
            changed |= bool(reading.graph.is_write[i] and not reading.graph.is_error[i])
        elif span.kind == "assistant" and not changed:
            said = _DONE.search(span.text)
            if said:
                yield i, 1.0, f"it says {quoted(said.group())}, and no call so far changed anything"
