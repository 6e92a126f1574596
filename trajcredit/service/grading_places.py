"""Labels laid over a batch: which span positions each is about, and which labels are about nothing that was read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from trajcredit.batching import Batch, decisions, turns_of
from trajcredit.errors import InputError
from trajcredit.model import instant
from trajcredit.service.grading_labels import CulpritCase, Labels, RunTruth, SpanLabel
from trajcredit.service.wording import count

__all__ = ["Case", "Placed", "Places", "Spans", "Truth", "laid", "placed"]

Places: TypeAlias = tuple[int, ...]
Found: TypeAlias = tuple[Places, SpanLabel]


@dataclass(frozen=True, slots=True)
class Case:
    """One run with its candidates, each some span positions of the batch, and what is known of them by number."""

    trajectory_id: str
    cluster: str
    candidates: tuple[Places, ...]
    culprits: frozenset[int]
    wrong: frozenset[int]
    right: frozenset[int]


@dataclass(frozen=True, slots=True)
class Truth:
    """One action whose true advantage is known; its number is the first finite one at `places`."""

    trajectory_id: str
    cluster: str
    family: str
    places: Places
    value: float


@dataclass(frozen=True, slots=True)
class Placed:
    """Labels over a batch.

    `failed` says of a trajectory whether it failed, and is absent where it neither failed nor succeeded. `unmatched`
    has a sentence for each label about nothing that was read, `remarks` one for each thing decided about the others.
    """

    cases: tuple[Case, ...]
    truths: tuple[Truth, ...]
    failed: dict[str, bool]
    unmatched: tuple[str, ...]
    remarks: tuple[str, ...]


def placed(labels: Labels, batch: Batch) -> Placed:
    """`laid`, and InputError where no label is about anything that was read."""
    found = laid(labels, batch)
    if not found.cases and not found.truths:
        some = next(iter((*found.unmatched, *found.remarks)), "no row of it names a culprit or a value")
        raise InputError(f"{labels.file}: none of its labels grades anything that was read, e.g. {some}")
    return found


def laid(labels: Labels, batch: Batch) -> Placed:
    """Every label at its spans. InputError where the batch has no transcripts and a label names no span by index."""
    if batch.graphs is None and (labels.cases or any(label.span_index is None for label in labels.spans)):
        raise InputError("labels name calls and messages, and this batch was loaded without its transcripts")
    spans = Spans(batch)
    unmatched: list[str] = []
    cases = [
        case for one in labels.cases if (case := _benchmark_case(one, spans, labels.file, unmatched)) and _usable(case)
    ]
    found = _found(labels, spans, unmatched)
    verdicts, values, overruled = _newest(found)
    truths = [_truth(place, label, value, labels.runs, spans) for place, label, value in values]
    own = list(_cases(verdicts, spans))
    useless = sum(not _usable(case) for case in own)
    remarks = []
    if overruled:
        remarks.append(f"{count(overruled, 'label')} overruled by a newer one of the same span that says otherwise")
    if useless:
        which = "1 trajectory" if useless == 1 else f"{useless:,} trajectories"
        remarks.append(f"{which} with verdicts, but no culprit and no innocent span to grade on")
    cases += [case for case in own if _usable(case)]
    failed = _failed(labels, batch, {truth.trajectory_id for truth in truths})
    return Placed(tuple(cases), tuple(truths), failed, tuple(unmatched), tuple(remarks))


class Spans:
    """Where the spans of a batch are: by trajectory, and where it has its transcripts by message and call."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.number = {name: t for t, name in enumerate(batch.trajectory_ids)}
        self.actions: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.words: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.calls: dict[tuple[int, str], list[int]] = defaultdict(list)
        self.message: dict[int, int] = {}
        for t, graph in enumerate(batch.graphs or ()):
            first = int(batch.span_offsets[t])
            for index, span in enumerate(graph.trajectory.spans):
                position = first + index
                if not batch.action_mask[position]:
                    continue
                if span.call_id is not None:
                    self.calls[t, span.call_id].append(position)
                if span.message_index is not None:
                    self.message[position] = span.message_index
                    self.actions[t, span.message_index].append(position)
                    if span.call_id is None:
                        self.words[t, span.message_index].append(position)
        self.chosen = decisions(batch)
        self.turn = turns_of(batch)

    def of(self, label: SpanLabel) -> Places | str:
        """The span of a label first, then what else its number may stand at; or why there is none."""
        t = self.number.get(label.trajectory_id)
        if t is None:
            return "no such trajectory was read"
        first, end = self.batch.span_offsets[t : t + 2].tolist()
        if label.span_index is not None:
            position = first + label.span_index
            if not first <= position < end:
                return f"span_index {label.span_index} is not one of its {end - first} spans"
            if not self.batch.action_mask[position]:
                return f"span_index {label.span_index} is an observation: only actions carry credit"
            return (position,)
        message = label.message_index
        assert message is not None
        words = tuple(self.words.get((t, message), ()))
        if label.tool_call_id is None:
            return words or f"message {message} has no text or reasoning of the agent"
        calls = self.calls.get((t, label.tool_call_id), [])
        if len(calls) > 1:  # ids come again once their call is answered
            calls = [p for p in calls if self.message.get(p) == message]
        if not calls:
            return f"no call {label.tool_call_id!r} at message {message}"
        return (calls[-1], *words)

    def group_of(self, trajectory_id: str) -> str:
        """The group of a trajectory of the batch."""
        return self.batch.group_ids[int(self.batch.group[self.number[trajectory_id]])]


def _found(labels: Labels, spans: Spans, unmatched: list[str]) -> list[Found]:
    found = []
    for label in labels.spans:
        place = spans.of(label)
        if isinstance(place, str):
            unmatched.append(f"{labels.file}:{label.line}: {label.trajectory_id!r}: {place}")
        else:
            found.append((place, label))
    return found


def _newest(found: Iterable[Found]) -> tuple[dict[int, SpanLabel], list[tuple[Places, SpanLabel, float]], int]:
    """Verdicts by span, values with their places, and how many gave way to another one that says otherwise.

    Of several labels of one span the newest counts, of equally new ones the last.
    """
    verdicts: dict[int, SpanLabel] = {}
    values: dict[int, tuple[Places, SpanLabel, float]] = {}
    overruled = 0
    for place, label in sorted(found, key=lambda one: instant(one[1].at)):
        at = place[0]
        if label.verdict is not None:
            overruled += at in verdicts and verdicts[at].verdict != label.verdict
            verdicts[at] = label
        if label.value is not None:
            overruled += at in values and values[at][2] != label.value
            values[at] = (place, label, label.value)
    return verdicts, list(values.values()), overruled


def _truth(place: Places, label: SpanLabel, value: float, runs: dict[str, RunTruth], spans: Spans) -> Truth:
    run = runs.get(label.trajectory_id)
    if run is None:
        group, family = spans.group_of(label.trajectory_id), label.family or ""
    else:
        group, family = run.group, label.family or run.family
    return Truth(label.trajectory_id, group, family, place, value)


def _failed(labels: Labels, batch: Batch, graded: set[str]) -> dict[str, bool]:
    """Failed: reward below 0.5 where those of the group are 0 or 1, else below the group's mean."""
    groups: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for name, run in labels.runs.items():
        groups[run.group].append((name, run.reward))
    for t, name in enumerate(batch.trajectory_ids):
        if name not in labels.runs and not np.isnan(batch.outcome[t]):
            groups[batch.group_ids[batch.group[t]]].append((name, float(batch.outcome[t])))
    failed: dict[str, bool] = {}
    for group, members in groups.items():
        rewards = np.array([reward for _, reward in members])
        binary = labels.binary.get(group, bool(np.isin(rewards, (0.0, 1.0)).all()))
        bar = 0.5 if binary else rewards.mean()
        for name, reward in members:
            if name in graded and abs(reward - bar) > 1e-9:
                failed[name] = bool(reward < bar)
    return failed


def _benchmark_case(one: CulpritCase, spans: Spans, file: str, unmatched: list[str]) -> Case | None:
    t = spans.number.get(one.trajectory_id)
    if t is None:
        unmatched.append(f"{file}:{one.line}: {one.trajectory_id!r}: no such trajectory was read")
        return None
    candidates = tuple(tuple(spans.actions.get((t, m), ())) for m in one.candidates)
    if not any(candidates):
        unmatched.append(f"{file}:{one.line}: {one.trajectory_id!r}: no action is at any of its candidate messages")
        return None
    number = {message: k for k, message in enumerate(one.candidates)}
    return Case(
        trajectory_id=one.trajectory_id,
        cluster=one.group,
        candidates=candidates,
        culprits=frozenset(() if one.culprit is None else (number[one.culprit],)),
        wrong=frozenset(number[m] for m, ok in one.right.items() if not ok),
        right=frozenset(number[m] for m, ok in one.right.items() if ok),
    )


def _cases(verdicts: dict[int, SpanLabel], spans: Spans) -> Iterator[Case]:
    """One case a run with verdicts. Candidates are its choices: every call, and the last words of a turn without calls.

    A verdict on words beside calls is about the calls of that turn that have none of their own.
    """
    runs: dict[str, dict[int, str]] = defaultdict(dict)
    for position, label in verdicts.items():
        runs[label.trajectory_id][position] = label.verdict or "unsure"
    for name, known in runs.items():
        first, end = spans.batch.span_offsets[spans.number[name] :][:2].tolist()
        chosen = (first + np.flatnonzero(spans.chosen[first:end])).tolist()
        said = [_said(position, known, spans) for position in chosen]
        yield Case(
            trajectory_id=name,
            cluster=spans.group_of(name),
            candidates=tuple((position,) for position in chosen),
            culprits=frozenset(k for k, verdict in enumerate(said) if verdict == "culprit"),
            wrong=frozenset(k for k, verdict in enumerate(said) if verdict in ("culprit", "contributed")),
            right=frozenset(k for k, verdict in enumerate(said) if verdict == "innocent"),
        )


def _said(position: int, known: dict[int, str], spans: Spans) -> str | None:
    """The verdict on a choice: its own, else the last one on words of its turn, if any."""
    if position in known:
        return known[position]
    beside = [p for p in sorted(known) if not spans.chosen[p] and spans.turn[p] == spans.turn[position]]
    return known[beside[-1]] if beside else None


def _usable(case: Case) -> bool:
    return bool(case.culprits or case.right)
