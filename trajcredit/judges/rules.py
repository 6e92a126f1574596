"""The rule judge: named rules over the spans and the graph of one trajectory; no model, no outcome, no sibling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from typing import ClassVar

from trajcredit.batching import Finding
from trajcredit.graph import SpanGraph
from trajcredit.judges import rules_calls, rules_text
from trajcredit.judges.base import Basis, Case, Means, Scale, Verdict
from trajcredit.judges.reading import Found, Reading
from trajcredit.registry import judges

__all__ = ["RULES", "Rule", "Rules", "findings"]


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
    Rule("format-drift", "a call in another form than those before it", 0.4, rules_text.format_drift),
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


@judges.register("rules")
@dataclass(frozen=True, slots=True)
class Rules:
    """Named rules find faults in calls, results and texts; no model is asked.

    A score is what is left of 1 after the faults up to there: each takes away its severity of what was left. It rests
    on no reward and on no other trajectory. docs/judges.md has the rules.
    """

    scale: ClassVar[Scale] = "state"
    segments: ClassVar[str] = "action"
    local: ClassVar[bool] = True

    def basis(self, means: Means) -> Basis:
        """The names and severities of the rules."""
        said = repr([(rule.name, rule.severity) for rule in RULES])
        return Basis(sha256(said.encode()).hexdigest()[:12])

    def __call__(self, cases: Iterable[Case], means: Means) -> Iterator[Verdict]:
        """What is left after each action; the faults themselves are the findings."""
        for case in cases:
            found = findings(case.graph)
            left, scores = 1.0, list[float]()
            for segment in case.segments:
                left *= prod(1.0 - one.severity for one in found if one.span in segment.actions)
                scores.append(left)
            yield Verdict(tuple(scores), 1.0, findings=tuple(found))
