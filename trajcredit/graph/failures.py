"""Whether a tool result reports a failure. The log's own flag wins; this is for logs that have none."""

from __future__ import annotations

import re

from trajcredit.model import Span

__all__ = ["failed", "finds_fault", "tells_failure"]

_START = re.compile(
    r"""[\s\["'(<]*(?:tool\s+|http\s+|api\s+|runtime\s+|syntax\s+|validation\s+)?
    (?:error|exception|traceback|fatal|failed\b|failure|denied|unauthori[sz]ed|forbidden|invalid|cannot\b|can't\b
    |could\ not\b|couldn't\b|unable\ to\b|timed?\ ?out|no\ such\b|not\ found\b|permission\ denied|command\ not\ found
    |unknown\ (?:command|tool|function)|service\ (?:temporarily\ )?unavailable|rate\ limit|too\ many\ requests
    |(?:http|status)(?:/\d\.\d)?[\s:]*(?:code\s*)?[45]\d\d\b|usage:
    |[45]\d\d[\s:,-]+(?:bad\ (?:request|gateway)|unauthori[sz]ed|forbidden|not\ found|method\ not|conflict|gone
    |unprocessable|too\ many|internal\ server|not\ implemented|service\ unavailable|gateway\ time))""",
    re.IGNORECASE | re.VERBOSE,
)
"""What failures start with: the word itself, or an HTTP status of 400 or more."""
_FIELDS = re.compile(
    r"""["'](?=[eosr])(?:
    (?:error|errors|exception|error_message)["']\s*:(?!\s*(?:null\b|none\b|false\b|""|''|\[\]|\{\}|0\b))
    |(?:ok|success|succeeded)["']\s*:\s*(?:false|0\b)
    |(?:status|state|result)["']\s*:\s*["'](?:error|failed|failure|denied|rejected|timeout)["']
    |(?:exit_?code|return_?code)["']\s*:\s*(?!0\b)-?\d)""",
    re.IGNORECASE | re.VERBOSE,
)
_ANYWHERE = re.compile(
    r"""Traceback\ \(most\ recent\ call\ last\)
    |\bexit(?:ed)?\ (?:with\ )?(?:code|status)[:\ ]+(?!0\b)-?\d
    |^(?:[\w./-]+:\ )?(?:line\ \d+:\ )?[\w./ -]{0,80}:\ (?:command\ not\ found|No\ such\ file|Permission\ denied)
    |\[Errno\ \d+\]|introduced\ (?:new\ )?syntax\ error|^\w*(?:Error|Exception):\ """,
    re.MULTILINE | re.VERBOSE,
)
_NEVER = frozenset("{}" + "bgjklmoqwxyzBGJKLMOQWXYZ" + "01236789" + "!#$%&*+,-./:;=>?@\\]^_`|~")
"""Letters, digits and signs that _START takes nowhere at the beginning: most results begin with one, JSON and prose."""
HEAD, TAIL = 300, 300
_FAULT = re.compile(
    r"\b(?!0\b)\d+ (?:tests? )?(?:failed|failures?|errors?)\b"
    r"|\b(?-i:FAIL(?:ED)?)\b|\bmismatch|\bviolation|\bnot (?:ok|valid|passing)\b",
    re.IGNORECASE,
)


def failed(span: Span) -> bool:
    """Whether a result says that its call failed: the flag where the log has one, else how its text starts and ends."""
    return tells_failure(span.text) if span.error is None else span.error


def tells_failure(text: str) -> bool:
    """Whether how the text of a result starts and ends says that its call failed."""
    if not text:
        return False
    head, first = text[:HEAD], text[0]
    if first not in _NEVER and _START.match(head):
        return True
    if first in "{[" and _may_tell(head) and _FIELDS.search(head):
        return True
    return _found(head) or (len(text) > HEAD and _found(text[-TAIL:]))


def finds_fault(text: str) -> bool:
    """Whether a check or a look says that what it looked at is wrong."""
    return _FAULT.search(text) is not None


# Most results hold none of these words, and a substring test costs a hundredth of a pattern: they are asked first. That
# a single letter is there costs a fifth of such a test, and a long word less than a short one.


def _may_tell(text: str) -> bool:
    told = "rror" in text or "ucce" in text or '"ok' in text or "code" in text or ("x" in text and "xception" in text)
    told = told or "enied" in text or "ejected" in text or "imeout" in text
    return told or "ailed" in text or "ailure" in text


def _found(text: str) -> bool:
    """Whether _ANYWHERE is there, each of whose ways has one of these words; `syntax`, `exit` and `Exception` an x."""
    told = "Traceback (most" in text if "T" in text else False
    told = told or ("x" in text and ("exit" in text or "xception: " in text or "introduced" in text))
    told = told or ("E" in text and ("Error: " in text or "[Errno" in text))
    told = told or "command not found" in text or "No such file" in text or "Permission denied" in text
    return told and _ANYWHERE.search(text) is not None
