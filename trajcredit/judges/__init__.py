"""Judges: opinions on spans from their text. `judge` writes them into the `scores` of a batch, with reasons beside."""

from trajcredit.judges.filling import COLUMNS, KINDS, judge
from trajcredit.judges.rules import RULES, Rule

__all__ = ["COLUMNS", "KINDS", "RULES", "Rule", "judge"]
