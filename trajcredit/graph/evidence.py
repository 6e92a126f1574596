"""Why an edge exists: the table of rules, the values seen on both sides, and the sentence a person reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["EDGE_KINDS", "RULES", "RULE_CODES", "Evidence", "Match", "Rule", "sentence"]

EDGE_KINDS = ("call", "turn", "value", "state", "control", "context", "explicit", "override")
"""Edge kinds in the order of their codes; value and state are the data edges."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to draw an edge. `why` is its sentence; {values} and {detail} are filled in per edge."""

    name: str
    kind: str
    why: str


RULES: tuple[Rule, ...] = (
    Rule("call", "call", "the result of this call"),
    Rule("reasoning", "turn", "written in the same turn, after this reasoning"),
    Rule("reply", "turn", "answers the question asked here"),
    Rule("value", "value", "uses {values}, shown here"),
    Rule("echo", "value", "uses {values}, which the user gave and this result showed again"),
    Rule("neighbour", "value", "uses {detail}, one away from the number seen here"),
    Rule("whole_result", "value", "repeats {values}, the whole of this result"),
    Rule("field_sum", "value", "states {detail}, and this is one of them"),
    Rule("read_after_write", "state", "works on {detail}, last changed here"),
    Rule("write_after_read", "state", "changes {detail}, looked at here"),
    Rule("minted_id", "state", "its result shows {detail}, an id made here"),
    Rule("session", "state", "runs in the session set up here"),
    Rule("variable", "state", "reads the variable {detail}, set here"),
    Rule("check", "state", "checks the effect of this call"),
    Rule("run_output", "state", "stores what this code produced"),
    Rule("build", "state", "works on what this call last changed"),
    Rule("repair", "state", "succeeds where the same call had failed before this one"),
    Rule("looked_up", "state", "acts on what the user named and this call looked up"),
    Rule("publish", "state", "publishes what this call changed"),
    Rule("retry", "control", "tries again after this failure"),
    Rule("finding", "control", "follows a bad finding here"),
    Rule("closing", "control", "reports the effect of this call"),
    Rule("request", "control", "the final answer to this request"),
    Rule("compaction", "control", "its call was replaced by this summary"),
    Rule("context", "context", "came just before; no better reason was found"),
    Rule("explicit", "explicit", "the log says so{detail}"),
    Rule("override", "override", "a person says so{detail}"),
)
RULE_CODES = {rule.name: code for code, rule in enumerate(RULES)}


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
