"""Failed rollouts as if what they did had been asked for (hindsight experience replay, adapted to text).

Andrychowicz et al. 2017 (arXiv 1707.01495) store a failed episode once more with the goal it reached in the place of
the one it was given. Here the goal stands in the user's words, so it is replaced only where log and siblings leave no
doubt what was asked and what was done instead; every other rollout is refused, with the reason. What they do not
show stays unknown: whether the rollout also failed for another reason, or whether the new wish is one that the rules
of the task allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, isnan

import msgspec
from msgspec.structs import replace

from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.model import Note, Reward, Span, SpanTokens, Trajectory, body, encode
from trajcredit.service.relabelling_goals import (
    Change,
    Deeds,
    Refused,
    changes,
    deeds_of,
    follows,
    key_of,
    occurrences,
    replaced,
    written_value,
)

__all__ = ["MARK", "REASONS", "REWARD_NAME", "Refusal", "Relabelled", "Summary", "lines", "relabel"]

MARK = "#hindsight"
"""Ends the id, group, task and data set of a relabelled rollout: it never joins the group it came from."""
REWARD_NAME = "hindsight"
PASS_AT = 1.0

REASONS = {
    "unscored": "no reward: whether it failed is unknown",
    "cut-off": "it was cut off before it ended",
    "no-passing-sibling": "no rollout of its group passes: what was asked is unknown",
    "no-effect": "it changed nothing",
    "sibling-without-effect": "the rollouts of its group that pass changed nothing",
    "other-effects": "it changed other things, not only to other values",
    "same-effects": "it did what a rollout that passes did, and failed for another reason",
    "siblings-differ": "rollouts of its group that pass differ in that value: it is not what was asked",
    "no-word": "the value is no text or number, or too short to stand for itself",
    "several-keys": "the value stands for several arguments, or for one that changed in two ways",
    "not-named": "the user never says the value word for word",
    "named-twice": "one message of the user says the value twice",
    "achieved-named": "the user says the value that was done, too",
    "still-followed": "the agent, the system prompt or a summary names the value that was asked",
    "result-names-it": "the result of a call that changed something names the value that was asked",
    "named-afterwards": "the user names the value after it was done otherwise",
    "did-less": "it lacks a call that a rollout which passes rests on, or made about the asked value",
    "other-words": "the user's other words speak of what was asked, not of what was done",
}
"""Why a failed rollout is not relabelled: the first of these that holds."""


class Refusal(msgspec.Struct, frozen=True):
    """A failed rollout that was not relabelled: a code of REASONS, and what showed it."""

    trajectory: str
    code: str
    detail: str


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of rollouts."""

    pass_at: float
    read: int
    passing: int
    relabelled: int
    refused: dict[str, int]
    """Code of REASONS -> rollouts."""
    refusals: tuple[Refusal, ...]
    """Each of them, in the order of the batch."""


@dataclass(frozen=True, slots=True)
class Relabelled:
    """The new trajectories, in the order of those they were made of, and what became of the others."""

    trajectories: tuple[Trajectory, ...]
    summary: Summary


def lines(relabelled: Relabelled) -> Iterator[bytes]:
    """The new trajectories as canonical JSON lines with their line feeds."""
    return (encode(trajectory) + b"\n" for trajectory in relabelled.trajectories)


def relabel(batch: Batch, pass_at: float = PASS_AT) -> Relabelled:
    """Every failed rollout (outcome < pass_at) whose deed can be put in the place of what its user asked for.

    What was asked: the arguments of calls that change state of siblings that pass. What was done: those of its own, all
    of them answered without an error. Where both called the same tools and differ in values only, each such value must
    be what every sibling that passes has there, stand in the user's words as a whole word, once a message, and stand in
    nothing that the agent wrote and no system prompt. It must also have made every call that the outcome of one of
    these siblings rests on or that names an asked value, with the achieved values in the place of the asked: else it
    fell short in more than the values; and what came back must bear out the user's other words as well as theirs did.
    The user's messages then name the achieved values in their place.

    The new trajectory has the reward `pass_at` with the name "hindsight" and the source `judge`, since no verifier saw
    it; an id, group, task and data set of its own; and a note that says what was replaced. What was recorded under the
    old words is dropped: token ids and log-probs (counts stay), forecasts of a critic, the known answer, the evidence
    of logged edges, the call that started it. InputError where the batch has no transcripts or `pass_at` is no number.
    """
    if batch.graphs is None:
        raise InputError("the batch has no transcripts: rollouts are relabelled from logs")
    if not isfinite(pass_at):
        raise InputError(f"pass-at is {pass_at}: expected a number")
    runs = [graph.trajectory for graph in batch.graphs]
    deeds = [deeds_of(graph) for graph in batch.graphs]
    passing = [outcome >= pass_at - 1e-9 * max(1.0, abs(pass_at)) for outcome in batch.outcome.tolist()]
    siblings: dict[int, list[int]] = {}
    for t, group in enumerate(batch.group.tolist()):
        if passing[t]:
            siblings.setdefault(group, []).append(t)
    made: list[Trajectory] = []
    refusals: list[Refusal] = []
    for t, run in enumerate(runs):
        if passing[t]:
            continue
        try:
            if isnan(batch.outcome[t]):
                raise Refused("unscored")
            if run.truncated:
                raise Refused("cut-off")
            found = _goal(run, deeds[t], [deeds[s] for s in siblings.get(int(batch.group[t]), ())])
            made.append(_rewritten(run, found, pass_at))
        except Refused as why:
            refusals.append(Refusal(run.id, why.code, why.detail))
    counts = Counter(refusal.code for refusal in refusals)
    summary = Summary(
        pass_at=pass_at,
        read=len(runs),
        passing=sum(passing),
        relabelled=len(made),
        refused={code: counts[code] for code in REASONS if counts[code]},
        refusals=tuple(refusals),
    )
    return Relabelled(tuple(made), summary)


def _goal(run: Trajectory, done: Deeds, siblings: Sequence[Deeds]) -> list[Change]:
    """What was done otherwise than asked: told by the nearest sibling that bears it out."""
    if not siblings:
        raise Refused("no-passing-sibling")
    if not done.effects:
        raise Refused("no-effect")
    if not any(sibling.effects for sibling in siblings):
        raise Refused("sibling-without-effect")
    found: list[tuple[list[Change], Deeds]] = []
    refused: list[Refused] = []
    for sibling in siblings:
        try:
            found.append((changes(done.effects, sibling.effects), sibling))
        except Refused as why:
            refused.append(why)
    if not found:
        raise refused[0]
    found.sort(key=lambda one: len(one[0]))  # stable: of equal ones the first in the log
    refused.clear()
    for change, sibling in found:
        try:
            _check(run, done, change, sibling, siblings)
        except Refused as why:
            refused.append(why)
        else:
            return change
    raise refused[0]


def _check(run: Trajectory, done: Deeds, found: Sequence[Change], sibling: Deeds, siblings: Sequence[Deeds]) -> None:
    """Refused unless siblings, words and calls all bear out that these changes, and nothing else, went wrong."""
    if not found:
        raise Refused("same-effects")
    meant: dict[object, object] = {}
    for change in found:
        _check_siblings(change, siblings)
        _check_words(run, done, change)
        if meant.setdefault(change.asked, change.achieved) != change.achieved:
            raise Refused("several-keys", f"{change.asked!r} became {meant[change.asked]!r} and {change.achieved!r}")
    follows(done, sibling, found, "\n".join(span.text for span in run.spans if span.kind == "user"))


def _check_siblings(change: Change, siblings: Sequence[Deeds]) -> None:
    """Every sibling that passes has the asked value there, and none has it as the value of another argument."""
    for sibling in siblings:
        if not any(e.tool == change.tool and e.values.get(change.path) == change.asked for e in sibling.effects):
            raise Refused("siblings-differ", f"{change.tool}: {change.key}")
        for effect in sibling.effects:
            for path, value in effect.values.items():
                if value == change.asked and key_of(path) != change.key:
                    raise Refused("several-keys", f"{change.asked!r} is {change.key} and {key_of(path)}")


def _check_words(run: Trajectory, done: Deeds, change: Change) -> None:
    asked, achieved = written_value(change.asked), written_value(change.achieved)
    if asked is None or achieved is None:
        raise Refused("no-word", f"{change.key}: {change.asked!r} became {change.achieved!r}")
    users = [(i, span.text) for i, span in enumerate(run.spans) if span.kind == "user"]
    counts = {i: occurrences(asked, text) for i, text in users}
    if not any(counts.values()):
        raise Refused("not-named", f"{change.key}: {asked!r}")
    if max(counts.values()) > 1 or any(occurrences(asked, text, exact=False) > counts[i] for i, text in users):
        raise Refused("named-twice", f"{change.key}: {asked!r}")
    if any(occurrences(achieved, text, exact=False) for _, text in users):
        raise Refused("achieved-named", f"{change.key}: {achieved!r}")
    for i, span in enumerate(run.spans):
        if span.kind in ("system", "assistant", "reasoning", "tool_call", "meta") and occurrences(
            asked, body(span), exact=False
        ):
            raise Refused("still-followed", f"span {i}: {asked!r}")
    deeds = {effect.span for effect in done.effects}
    for i, span in enumerate(run.spans):
        if span.kind == "tool_result" and span.result_of in deeds and occurrences(asked, span.text, exact=False):
            raise Refused("result-names-it", f"span {i}: {asked!r}")
    late = [i for i, count in counts.items() if count and i > change.span]
    if late:
        raise Refused("named-afterwards", f"span {late[0]}: {asked!r}")


def _rewritten(run: Trajectory, found: Sequence[Change], value: float) -> Trajectory:
    """The trajectory with its new wish, under names of its own."""
    values = {written_value(c.asked) or "": written_value(c.achieved) or "" for c in found}
    spans = [_forgetful(replace(s, text=replaced(s.text, values)) if s.kind == "user" else s) for s in run.spans]
    notes = [
        Note(
            REWARD_NAME,
            f"asked {c.asked!r}, did {c.achieved!r} ({c.tool}: {c.key}): the user's words ask for what was done; the "
            "reward is no one's verdict",
            span=c.span,
        )
        for c in found
    ]
    return replace(
        run,
        id=run.id + MARK,
        dataset=(run.dataset or "") + MARK,
        task=None if run.task is None else f"{run.task}{MARK}/{run.id}",
        group=(run.group or "") + f"{MARK}/{run.id}",
        parent=None,
        bootstrap=None,
        answer=None,
        rewards=[Reward(value, source="judge", name=REWARD_NAME)],
        spans=spans,
        edges=[replace(edge, evidence=None) for edge in run.edges],
        turns=[],
        report=[*run.report, *notes],
    )


def _forgetful(span: Span) -> Span:
    """The span without what was recorded under the old words."""
    tokens = span.tokens
    n = None if tokens is None or span.kind == "user" else tokens.n
    if tokens is not None and n is None and tokens.ids is not None and span.kind != "user":
        n = len(tokens.ids)
    return replace(span, value=None, tokens=None if n is None else SpanTokens(n=n))
