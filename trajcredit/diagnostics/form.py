"""The form of what a policy wrote, whatever it means: layout, emphasis, flattery, assurances, padding."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from math import log1p

from trajcredit.model import Span

__all__ = ["FEATURES", "form_of"]

FEATURES = (
    "headings",
    "list items",
    "bold words",
    "exclamation marks",
    "pictographs",
    "flattery",
    "assurances",
    "thanks and apologies",
    "repeated phrases",
    "words",
)
PATTERNS = (
    re.compile(r"^#{1,6} ", re.MULTILINE),
    re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]) ", re.MULTILINE),
    re.compile(r"\*\*[^*\n]{1,80}\*\*"),
    re.compile(r"!"),
)
PICTOGRAPH = re.compile(r"[\u2000-\U0010ffff]")
FLATTERY = re.compile(
    r"\b(?:great|excellent|wonderful|fantastic|brilliant|insightful|amazing) (?:question|point|idea|choice|request)\b"
    r"|\byou(?:'re| are) (?:absolutely |completely |so )?(?:right|welcome|amazing|the best)\b"
    r"|\b(?:happy|delighted|thrilled|honou?red) to (?:help|assist)\b|\b(?:absolutely|certainly|of course)\b",
    re.IGNORECASE,
)
ASSURANCES = re.compile(
    r"\b(?:verified|double[- ]checked|guarantee\w*|confident|certain|definitely|undoubtedly|rest assured|correctly"
    r"|successfully|100 ?%|perfect(?:ly)?|without (?:any )?(?:doubt|errors?))\b",
    re.IGNORECASE,
)
THANKS = re.compile(r"\b(?:thank\w*|sorry|apologi[sz]\w*|please)\b", re.IGNORECASE)
WORD = re.compile(r"\w+")
MOST = 20_000
"""Characters that are looked at: form shows in the first pages."""


def form_of(spans: Iterable[Span]) -> tuple[float, ...]:
    """FEATURES of the assistant's texts: log(1 + count), and the share of three-word phrases that come again."""
    text = "\n".join(span.text for span in spans if span.kind == "assistant")[:MOST]
    words = WORD.findall(text.lower())
    counts = [len(pattern.findall(text)) for pattern in PATTERNS]
    counts += [sum(unicodedata.category(c) == "So" for c in PICTOGRAPH.findall(text))]
    counts += [len(pattern.findall(text)) for pattern in (FLATTERY, ASSURANCES, THANKS)]
    phrases = list(zip(words, words[1:], words[2:], strict=False))
    again = 1 - len(set(phrases)) / len(phrases) if phrases else 0.0
    return (*map(log1p, counts), again, log1p(len(words)))
