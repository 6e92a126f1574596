"""Why an edge exists: the table of rules, the values seen on both sides, and the sentence a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["EDGE_KINDS", "RULES", "RULE_CODES", "Evidence", "Match", "Rule", "sentence", "value_weight"]

EDGE_KINDS = ("call", "turn", "value", "state", "control", "context", "explicit", "override")
"""Edge kinds in the order of their codes; value and state are the data edges."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to draw an edge. `why` is its sentence; {values} and {detail} are filled in per edge.

    weight: the share of such edges that are right, fitted by bench/edges.py and rounded down to 0.05; of `value` it
    grows with the bits matched.
    """

    name: str
    kind: str
    why: str
    weight: float


RULES: tuple[Rule, ...] = (
    Rule("call", "call", "the result of this call", 1.0),
    Rule("reasoning", "turn", "written in the same turn, after this reasoning", 1.0),
    Rule("reply", "turn", "answers the question asked here", 0.95),
    Rule("value", "value", "uses {values}, shown here", 0.0),
    Rule("echo", "value", "uses {values}, which the user gave and this result showed again", 0.85),
    Rule("neighbour", "value", "uses {detail}, one away from the number seen here", 0.8),
    Rule("whole_result", "value", "repeats {values}, the whole of this result", 0.95),
    Rule("field_sum", "value", "states {detail}, and this is one of them", 0.9),
    Rule("read_after_write", "state", "works on {detail}, last changed here", 0.8),
    Rule("write_after_read", "state", "changes {detail}, looked at here", 0.95),
    Rule("minted_id", "state", "its result shows {detail}, an id made here", 0.65),
    Rule("session", "state", "runs in the session set up here", 0.95),
    Rule("variable", "state", "reads the variable {detail}, set here", 0.95),
    Rule("check", "state", "checks the effect of this call", 0.95),
    Rule("run_output", "state", "stores what this code produced", 0.95),
    Rule("build", "state", "works on what this call last changed", 0.75),
    Rule("repair", "state", "succeeds where the same call had failed before this one", 0.85),
    Rule("looked_up", "state", "acts on what the user named and this call looked up", 0.5),
    Rule("publish", "state", "publishes what this call changed", 0.8),
    Rule("retry", "control", "tries again after this failure", 0.95),
    Rule("finding", "control", "follows a bad finding here", 0.95),
    Rule("closing", "control", "reports the effect of this call", 0.85),
    Rule("request", "control", "the final answer to this request", 0.95),
    Rule("compaction", "control", "its call was replaced by this summary", 0.9),
    Rule("context", "context", "came just before; no better reason was found", 0.05),
    Rule("explicit", "explicit", "the log says so{detail}", 1.0),
    Rule("override", "override", "a person says so{detail}", 1.0),
    Rule("reaction", "control", "came right after this failure", 0.95),
    Rule("shown_again", "state", "its result shows {detail}, written here", 0.8),
    Rule("again", "state", "is made again after this change", 0.95),
    Rule("in_vain", "control", "came right after this call had found nothing", 0.65),
    Rule("thought", "control", "thinks about what came just before", 0.95),
    Rule("review", "state", "looks over what has changed, and this call changed something", 0.95),
    Rule("file_after_write", "state", "works on {detail}, a file last changed here", 0.95),
    Rule("write_after_look", "state", "changes {detail}, a file looked at here", 0.95),
    Rule("objection", "state", "changes {detail}, looked at here and found wrong", 0.7),
    Rule("taken_up", "state", "acts on what the user named, with what only this look at it showed", 0.95),
    Rule("program", "state", "asks the program whose state this call changed", 0.85),
    Rule("refines", "control", "looks further, much as this look did", 0.85),
    Rule("output", "control", "answers what was said here; no call of it is logged", 0.9),
    Rule("echo_words", "value", "uses {values}, which the user named and this result only named again", 0.2),
    Rule("folder", "value", "looks into {detail}, a folder of what is shown here", 0.8),
    Rule("retold", "value", "tells {values}, which this latest result is about", 0.8),
    Rule("listed", "value", "names {detail}, which is listed here", 0.65),
    Rule("in_folder", "state", "works in {detail}, a folder made here", 0.8),
    Rule("day", "value", "uses {detail}, a day named here", 0.85),
    Rule("same_figure", "value", "states {values}, which this latest result shows too", 0.4),
)
LEAST_SURE, BITS_TO_SURE, SUREST, SURE = 0.8, 100.0, 0.95, 0.92
"""Weight of a value edge: LEAST_SURE + bits / BITS_TO_SURE, at most SUREST from a user turn and SURE from a result: who
said a thing is surer than which of many results it was read in."""
ONE_OF_MANY = 0.6
"""Weight of a value edge from a result, where several later ones showed its values again, or the agent works on it."""
CLAIM = 0.25
"""Weight below which an edge is a candidate: shown, and leading nowhere."""
CANDIDATE = 0.05
"""Weight of an edge whose rule fits and whose texts do not bear it out: it is shown as possible and not claimed."""
OUTDATED = 0.2
"""Weight of an edge whose values the agent saw again later, or no longer saw, before it used them."""
RULE_CODES = {rule.name: code for code, rule in enumerate(RULES)}


def value_weight(bits: float, said: bool) -> float:
    """How sure an edge is whose values are worth so many bits; `said`: by a user turn."""
    return min(SUREST if said else SURE, LEAST_SURE + bits / BITS_TO_SURE)


@dataclass(frozen=True, slots=True)
class Match:
    """One value on both sides of an edge: half-open character ranges into `model.body` of child and parent."""

    child_text: str
    child: tuple[int, int]
    parent_text: str
    parent: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rule that made an edge, its sentence, and the values seen on both sides."""

    rule: str
    why: str
    matches: tuple[Match, ...]


def sentence(rule: Rule, matches: Sequence[Match], detail: str | None) -> str:
    """The rule's sentence with the values it rests on; a value written differently here says how it stood there."""
    if rule.kind in ("explicit", "override"):
        return rule.why.format(detail=f": {detail}" if detail else "")
    shown = ", ".join(_shown(match) for match in matches[:3])
    more = f" and {len(matches) - 3} more" if len(matches) > 3 else ""
    return rule.why.format(values=(shown + more) or "a value", detail=detail or (shown + more) or "it")


def _shown(match: Match) -> str:
    same = match.child_text == match.parent_text
    return f"{match.child_text!r}" if same else f"{match.child_text!r} (there {match.parent_text!r})"
