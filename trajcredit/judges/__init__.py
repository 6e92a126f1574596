"""Judges: opinions on segments of a trajectory from their text. `judge` writes them into the `scores` of a batch."""

from trajcredit.judges.base import Answers, Basis, Case, Judge, Means, NoAnswers, Scale, Segment, Spent, Verdict
from trajcredit.judges.columns import deltas, with_verdicts
from trajcredit.judges.file import File, Opinions, load
from trajcredit.judges.filling import COLUMNS, judge
from trajcredit.judges.llm import Llm
from trajcredit.judges.opinions import Opinion, opinion
from trajcredit.judges.reward_model import RewardModel
from trajcredit.judges.rules import RULES, Rule, Rules, findings
from trajcredit.judges.segments import KINDS as SEGMENTS
from trajcredit.judges.segments import segmented

__all__ = [
    "COLUMNS",
    "RULES",
    "SEGMENTS",
    "Answers",
    "Basis",
    "Case",
    "File",
    "Judge",
    "Llm",
    "Means",
    "NoAnswers",
    "Opinion",
    "Opinions",
    "RewardModel",
    "Rule",
    "Rules",
    "Scale",
    "Segment",
    "Spent",
    "Verdict",
    "deltas",
    "findings",
    "judge",
    "load",
    "opinion",
    "segmented",
    "with_verdicts",
]
