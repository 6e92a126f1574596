"""What a judge found at a span, in words: why a score is what it is."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one action, or a reason that a judge gave.

    span      position in the batch of the action that is at fault
    rule      name of the rule that found it
    reason    a sentence that quotes what it saw
    severity  in [0, 1]: of a rule the share of what was still well that this takes away; of a reason by how much the
              score fell, 0 where it did not
    """

    span: int
    rule: str
    reason: str
    severity: float
