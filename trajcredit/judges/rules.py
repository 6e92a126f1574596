"""The rule judge: named rules over the spans and the graph of one trajectory; no model, no outcome, no sibling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trajcredit.batching import Finding
from trajcredit.graph import SpanGraph
from trajcredit.judges import rules_calls, rules_text
from trajcredit.judges.reading import Found, Reading

__all__ = ["RULES", "Rule", "findings"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of fault: what it is, how grave at most, and how it is found."""

    name: str
    says: str
    severity: float
    find: Callable[[Reading], Found]


RULES: tuple[Rule, ...] = (
    Rule("failed-call", "the call, or the code it wrote, failed", 0.6, rules_calls.failed_call),
    Rule("repeated-call", "the same call again, and nothing had changed", 0.3, rules_calls.repeated_call),
    Rule("unused-result", "nothing later used the result", 0.05, rules_calls.unused_result),
    Rule("invented-argument", "an argument that appears nowhere before", 0.4, rules_calls.invented_argument),
    Rule("contradicts-result", "an argument unlike what results said of it", 0.5, rules_calls.contradicts_result),
    Rule("bad-arguments", "arguments that the tool's declared schema forbids", 0.5, rules_calls.bad_arguments),
    Rule("unreadable-call", "arguments that cannot be read as JSON", 0.5, rules_calls.unreadable_call),
    Rule("ignored-failure", "goes on after a failure as if there were none", 0.3, rules_text.ignored_failure),
    Rule("empty-turn", "a turn that says nothing and calls nothing", 0.3, rules_text.empty_turn),
    Rule("invented-value", "figures that appear nowhere before", 0.2, rules_text.invented_value),
    Rule("claim-without-effect", "reports a change, and none was made", 0.4, rules_text.claim_without_effect),
)


def findings(graph: SpanGraph) -> list[Finding]:
    """What the rules find in one trajectory: by action, then in the order of RULES."""
    reading = Reading(graph)
    actions = set(reading.actions)
    found = [
        Finding(action, rule.name, reason, rule.severity * share)
        for rule in RULES
        for action, share, reason in rule.find(reading)
        if action in actions and share > 0
    ]
    return sorted(found, key=lambda one: one.span)
