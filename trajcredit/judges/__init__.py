"""Judges: opinions on spans from their text. `judge` writes them into the `scores` of a batch, with reasons beside."""

from trajcredit.judges.crossfit import calibrated
from trajcredit.judges.ensemble import combined, skill_weights
from trajcredit.judges.estimates import Estimate, Sampling
from trajcredit.judges.filling import COLUMNS, KINDS, judge
from trajcredit.judges.reliability import Reliability, Segments, reliability
from trajcredit.judges.rules import RULES, Rule

__all__ = [
    "COLUMNS",
    "KINDS",
    "RULES",
    "Estimate",
    "Reliability",
    "Rule",
    "Sampling",
    "Segments",
    "calibrated",
    "combined",
    "judge",
    "reliability",
    "skill_weights",
]
