"""A judge's reliability for people: warnings first, every figure with its interval, its unit and what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trajcredit.judges.agreement import Agreement
from trajcredit.judges.calibration import Calibration
from trajcredit.judges.estimates import Estimate
from trajcredit.judges.reliability import LABELS
from trajcredit.service.trusting import VALUES, Trust
from trajcredit.service.wording import count
from trajcredit.visible import visible

__all__ = ["Figure", "Part", "advice", "head", "parts", "terminal", "to_markdown", "warnings"]

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~&$^@]|:(?=//))")
"""What could begin or end something in Markdown, a table, HTML, a mention or a link."""
SPOKEN = {
    "raw": "scores as they are",
    "calibrated": "calibrated scores",
    "position": "place in the run",
    "length": "length",
    "length.segment": "length of segments",
    "consistency": "asked again",
    "agreement": "agreement",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    name: str
    value: str
    """With its interval, or why there is none."""
    means: str
    """Its scale, and how it is read."""


@dataclass(frozen=True, slots=True)
class Part:
    """Figures on one question."""

    title: str
    figures: tuple[Figure, ...]


def head(found: Trust) -> str:
    """What it is about, in a sentence."""
    said = found.reliability
    asked = "" if found.asked == 1 else f", asked {found.asked} times"
    runs = f"{said.trajectories:,} run{'s'[: said.trajectories != 1]} with a score and an outcome"
    outcomes = f"{runs} in {count(said.groups, 'group')}, {said.passed:,} passed (outcome at least {found.pass_at:g})"
    scores = f"{count(found.segments, 'scored segment')}, scores are of {SCALES[said.scale]}"
    return f"judge {found.judge}{asked}: {outcomes}; {scores}; intervals: 95 % of {said.draws:,} draws of groups"


SCALES = {"state": "states, 0 to 1", "credit": "credits, -1 to 1 a segment"}


def warnings(found: Trust) -> list[str]:
    """What has to be known before the scores are used."""
    said = found.reliability
    told = list(said.warnings)
    for one in said.against_base_rate:
        which = "its scores" if one.scores == "raw" else "its calibrated scores"
        if one.verdict in ("too_few", "one_outcome"):
            told.append(f"{which} were not held against the base rate: {one.difference.why or one.says}")
    if said.unscored:
        of = said.unscored + said.trajectories + said.no_outcome
        told.append(f"{said.unscored:,} of {of:,} runs have no score: not judged, or without any opinion")
    if said.no_outcome:
        told.append(f"{count(said.no_outcome, 'scored run')} without an outcome: not in any figure on outcomes")
    return told


def advice(found: Trust) -> str:
    """What follows for who wants to use the scores."""
    verdicts = {one.scores: one.verdict for one in found.reliability.against_base_rate}
    if verdicts["calibrated"] == "better" and verdicts.get("raw") == "better":
        return "its scores tell more of outcomes than the base rate, as they are and calibrated (judge:calibrate=true)"
    if verdicts["calibrated"] == "better":
        return "its scores tell of outcomes once they are calibrated: judge:calibrate=true"
    if verdicts["calibrated"] in ("too_few", "one_outcome"):
        return "nothing here says whether its scores tell of outcomes: read its reasons, do not train on them"
    return "its scores are not known to tell anything of outcomes here: read its reasons, do not train on them"


def parts(found: Trust) -> Iterator[Part]:
    """The report, question by question; what cannot be told is left out here and is in `without`."""
    said = found.reliability
    outcome = [Figure("AUC", _value(said.auc), "chance that a run that passed has the higher score; 0.5 is a coin")]
    for name, calibration in (("as they are", said.raw), ("calibrated", said.calibrated)):
        if calibration is not None:
            outcome += _calibration(name, calibration)
    for one in said.against_base_rate:
        which = "as they are" if one.scores == "raw" else "calibrated"
        outcome.append(
            Figure(
                f"Brier score minus base rate's, {which}",
                _value(one.difference, signed=True),
                "above 0: worse than always saying how often runs of other groups pass",
            )
        )
    yield Part("Do its last scores foretell outcomes?", tuple(outcome))
    for name, calibration in (("as they are", said.raw), ("calibrated on other groups", said.calibrated)):
        if calibration is not None:
            yield _curve(name, calibration)
    if said.position is not None:
        yield _position(found)
    if said.length is not None:
        yield _length(found)
    if said.consistency is not None:
        yield Part(
            "Does it say the same when asked again?",
            (
                Figure(
                    "spread", _value(said.consistency.spread), "mean standard deviation of a step, units of the score"
                ),
                Figure(
                    "same class",
                    _value(said.consistency.same_class),
                    "share of segments negative, neutral or positive every time",
                ),
                Figure(
                    "ICC(1,1)",
                    _value(said.consistency.icc),
                    "1: repeats are identical; 0: no more alike than by chance",
                ),
            ),
        )
    for agreed in said.agreement:
        yield _agreement(agreed)


def _calibration(name: str, found: Calibration) -> list[Figure]:
    curve = found.equal_width
    luck = f"mean gap of score and share passed, 0 to 1; {curve.ece_by_luck:.3f} is luck"
    return [
        Figure(f"calibration error (ECE), {name}", _value(curve.ece), luck),
        Figure(
            f"Brier score, {name}", _value(found.brier), "mean squared error of the chance to pass; 0 best, 1 worst"
        ),
    ]


def _curve(name: str, found: Calibration) -> Part:
    rows = (
        Figure(
            f"{one.low:.2f} to {one.high:.2f}",
            _value(one.passed),
            f"share of {one.n:,} that passed; their mean score is {one.score:.3f}",
        )
        for one in found.equal_count.bins
    )
    return Part(f"Of runs with such a last score, how many passed? Scores {name}", tuple(rows))


def _position(found: Trust) -> Part:
    place = found.reliability.position
    assert place is not None
    unit = "change of a step from first to last place, units of the score"
    return Part(
        "Does it follow the place in the run?",
        (
            Figure("slope, all runs", _value(place.slope, signed=True), f"{unit}; 0: none"),
            Figure("slope, runs that passed", _value(place.passed, signed=True), unit),
            Figure("slope, runs that failed", _value(place.failed, signed=True), f"{unit}; alike in both is a habit"),
            Figure("rank correlation", _value(place.rank, signed=True), "of step and place within runs, -1 to 1"),
        ),
    )


def _length(found: Trust) -> Part:
    length = found.reliability.length
    assert length is not None
    figures = [
        Figure("last score, all runs", _value(length.final, signed=True), "rank correlation with characters, -1 to 1"),
        Figure(
            "last score, equal task and outcome",
            _value(length.final_within, signed=True),
            "the same among rollouts of a task with one outcome: other than 0 is bias",
        ),
    ]
    if length.segment is not None and length.segment_within is not None:
        what = "rank correlation of a segment's step with its characters"
        figures += [
            Figure("step, all segments", _value(length.segment, signed=True), what),
            Figure("step, equal task and outcome", _value(length.segment_within, signed=True), "the same within those"),
        ]
    return Part("Does it follow the length of the text?", tuple(figures))


def _agreement(one: Agreement) -> Part:
    title = {
        LABELS: "Does it blame what people blame? Labels; its praise counts as neutral",
        VALUES: "Does it agree with true advantages?",
    }.get(one.name, f"Does it agree with {one.name}?")
    cells = "; ".join(
        f"{a} here and {b} there {n:,}"
        for a, row in zip(SHORT, one.confusion, strict=True)
        for b, n in zip(SHORT, row, strict=True)
        if n
    )
    chance = f"on negative, neutral, positive (up to {one.dead_zone:g} is neutral); 1 all agree, 0 as by chance"
    return Part(
        title,
        (
            Figure("kappa", _value(one.kappa), chance),
            Figure("kappa, weighted", _value(one.weighted), "the same; negative against positive counts twice"),
            Figure("rank correlation", _value(one.spearman, signed=True), "of the numbers, -1 to 1"),
            Figure("segments", f"{sum(map(sum, one.confusion)):,}", cells or "none that both have scored"),
        ),
    )


SHORT = ("negative", "neutral", "positive")


def _value(one: Estimate, signed: bool = False) -> str:
    """`0.610 [0.439, 0.762]`; without an interval why, in brackets."""
    form = "+.3f" if signed else ".3f"
    if one.value is None:
        return f"not told: {one.why}"
    if one.low is None or one.high is None:
        return f"{one.value:{form}} ({one.why})"
    return f"{one.value:{form}} [{one.low:{form}}, {one.high:{form}}]"


def untold(found: Trust) -> list[str]:
    """What cannot be told, and why."""
    return [f"{SPOKEN.get(part, part)}: {why}" for part, why in found.reliability.without.items()]


# ---------------------------------------------------------------- forms


def terminal(found: Trust) -> Iterator[str]:
    """Lines of the report as text; what comes from outside is made harmless."""
    yield _flat(head(found))
    for warning in warnings(found):
        yield f"WARNING {_flat(warning)}"
    yield f"so {_flat(advice(found))}"
    for part in parts(found):
        yield ""
        yield _flat(part.title)
        widths = [max(len(_flat(text)) for text in column) for column in zip(*_cells(part), strict=True)]
        for row in _cells(part):
            yield "  " + "  ".join(_flat(cell).ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip()
    for title, lines in (("not told", untold(found)), ("note", found.remarks)):
        yield from ([""] if lines else [])
        yield from (f"{title}: {_flat(one)}" for one in lines)


def to_markdown(found: Trust) -> str:
    """The report to paste into a ticket."""
    return "\n".join(_markdown(found)) + "\n"


def _markdown(found: Trust) -> Iterator[str]:
    yield f"# How far the judge {_text(found.judge)} can be trusted"
    yield ""
    yield f"{_text(head(found))}."
    for warning in warnings(found):
        yield ""
        yield f"**Warning: {_text(warning)}.**"
    yield ""
    yield f"So {_text(advice(found))}."
    for part in parts(found):
        yield ""
        yield f"## {_text(part.title)}"
        yield ""
        yield "| figure | value | what it is |"
        yield "| --- | --- | --- |"
        for row in _cells(part):
            yield f"| {' | '.join(map(_text, row))} |"
    for title, lines in (("Not told", untold(found)), ("Notes", found.remarks)):
        if lines:
            yield ""
            yield f"## {title}"
            yield ""
            yield from (f"- {_text(one)}" for one in lines)


def _cells(part: Part) -> Sequence[tuple[str, str, str]]:
    return [(one.name, one.value, one.means) for one in part.figures]


def _flat(text: str) -> str:
    return visible(" ".join(text.split()))


def _text(text: str) -> str:
    return SPECIAL.sub(r"\\\1", _flat(text))
