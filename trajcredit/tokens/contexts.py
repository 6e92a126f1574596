"""Where the context of a trajectory began anew: after a compaction the policy no longer sees what came before."""

from __future__ import annotations

import re

from trajcredit.model import ACTION_KINDS, Trajectory

__all__ = ["guessed", "restarts"]

CODES = frozenset({"context-rewritten", "rewritten-context"})
"""Notes by which readers say so."""
HEAD = 300
"""Characters of a message in which it says what it is."""

_WHAT = r"(?:conversation|context|session|history|chat|transcript|dialogue|discussion|work|progress|events|steps)"
_BEGINS = re.compile(
    rf"""[\s\W]*(?:
        (?:the\s+|this\s+|our\s+|previous\s+)*{_WHAT}\s+(?:(?:history|was|were|has|have|been|is|automatically|so\s+far)\s+)*
            (?:compact|condens|summari[sz]|rewritten|forgotten)
        | (?:performed\s+)?(?:context|conversation|history)\s+(?:summari[sz]ation|compaction|condensation)
        | this\s+(?:session|conversation)\s+is\s+(?:being\s+)?continued\s+from
        | \d+\s+(?:events|messages|steps|turns)\s+were\s+forgotten
        | another\s+language\s+model\s+started
        | (?:(?:here|this|below|what\s+follows)\s+is\s+)?(?:(?:a|an|the|my|brief|short|detailed|condensed|compact)\s+)*
            (?:(?:conversation|context|session|history|progress)\s+)?summary\s*
            (?: [:*#\n] | $ | so\s+far | of\s+(?:\w+\s+){{0,3}}?(?:{_WHAT}\b|what\s+(?:was|happened|has)) )
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_ITEM = re.compile(r'"type"\s*:\s*"compaction"')


def restarts(trajectory: Trajectory) -> frozenset[int]:
    """Spans at which the context began anew.

    Those that a reader's note says were asked in another context, and those `guessed`. Other `meta` spans (errors,
    notices, roles nobody knows) are part of the context as it goes on.
    """
    return frozenset(_noted(trajectory) | guessed(trajectory))


def guessed(trajectory: Trajectory) -> frozenset[int]:
    """`meta` spans behind an answer that no reader's note is about, and that begin like a summary of what came before.

    Only how a text begins counts: a notice that asks for a summary is none.
    """
    acted = next((i for i, span in enumerate(trajectory.spans) if span.kind in ACTION_KINDS), len(trajectory.spans))
    metas = {i for i, span in enumerate(trajectory.spans) if span.kind == "meta" and i > acted and _says_so(span.text)}
    return frozenset(metas - _noted(trajectory))


def _noted(trajectory: Trajectory) -> set[int]:
    return {note.span for note in trajectory.report if note.code in CODES and note.span is not None}


def _says_so(text: str) -> bool:
    if text.startswith("{"):  # an entry of a log that has no words of its own
        return _ITEM.search(text) is not None
    return _BEGINS.match(text[:HEAD]) is not None
