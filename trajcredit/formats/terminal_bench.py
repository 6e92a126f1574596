"""terminal-bench trials: the verdict is in `results.json`, what the agent did in the files beside it.

| file | is |
| --- | --- |
| `sessions/agent.cast` | what the terminal showed; the event stream that Claude Code printed there is read |
| `agent-logs/episode-N/` | of Terminus: `prompt.txt` is what it was told, `response.txt` or `.json` what it answered |
| `commands` in such an answer | a call that types them, marked as inferred; the next prompt is its result |

| note | says |
| --- | --- |
| `no-transcript` | no file beside the results holds what the agent did: only the verdict is known |
| `written-call` | calls were written as text: those found are marked as inferred |
| `run-error` | the harness says how the trial failed |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats.chat import outcome_of
from trajcredit.formats.claude_code_stream import sessions
from trajcredit.formats.document import Document, Match, decoded, trajectories
from trajcredit.formats.entries import Part
from trajcredit.formats.parts import json_text
from trajcredit.formats.split import REFUSED, Record
from trajcredit.formats.transcript import Transcript
from trajcredit.formats.typed import typed_call
from trajcredit.formats.written import SAID
from trajcredit.model import Edge, Note, Trajectory
from trajcredit.registry import formats

__all__ = ["TerminalBench"]

FORMAT = "terminal_bench"
KEYS = {"task_id", "is_resolved", "trial_name"}
MEMBER = re.compile(r"\.(\d+)-of-\d+\.")
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])|[\r\n]")
"""What steers a terminal, and where its lines are wrapped: JSON has no line feeds of its own there."""
EVENT = '{"type":"'
FINE = (None, "", "unset", "none")
MOST_EPISODES = 10_000
MOST_TORN = 10
"""Objects that never end, each of which is looked for to the end of the recording."""


class Trial(msgspec.Struct, gc=False):
    """One task, attempted once."""

    task_id: str
    trial_name: str
    id: str | None = None
    instruction: str | None = None
    is_resolved: bool | None = None
    failure_mode: str | None = None
    recording_path: str | None = None
    trial_ended_at: str | None = None


class Results(msgspec.Struct, gc=False):
    """All trials of a run."""

    results: list[msgspec.Raw]


_trial = msgspec.json.Decoder(Trial)
_results = msgspec.json.Decoder(Results)
_cast = msgspec.json.Decoder(tuple[float, str, str])
_objects = msgspec.json.Decoder()


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class TerminalBench:
    """terminal-bench results (`results.json`), with what the agent did from the recording or its logs beside them.

    Left out: verdicts of single tests, panes, what agents print whose form is not known.
    """

    def sniff(self, document: Document) -> Match:
        """A trial, or a run's list of them."""
        if document.keys >= KEYS:
            return Match.YES
        results = document.peek("results") if "results" in document.keys else None
        first = results[0] if isinstance(results, list) and results else None
        return Match.YES if isinstance(first, dict) and first.keys() >= KEYS else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a trial, then the agents its agent started."""
        if document.keys >= KEYS:
            for record in document.records:
                yield from _read(document, record)
            return
        for record in document.records:
            try:
                if isinstance(record, ParseError):
                    raise record
                results, _ = decoded(document, record, _results.decode)
            except ParseError as error:
                yield error
                continue
            alone = [raw for raw in results.results if not _has_a_file(document, raw)]
            if len(alone) < len(results.results):
                yield SkippedFile("its trials have results of their own in the folders below", document.place)
            yield from trajectories(document.inside(alone), _trial.decode, partial(_verdict, []))


def _has_a_file(document: Document, raw: msgspec.Raw) -> bool:
    """Whether the results of this trial lie in a folder of its own, from where they are read."""
    try:
        trial = _trial.decode(raw)
    except REFUSED:
        return False
    return document.beside(f"{trial.task_id}/{trial.trial_name}/results.json") is not None


def _read(document: Document, record: Record | ParseError) -> Iterator[Trajectory | ParseError]:
    """One trial with what lies beside it."""
    try:
        if isinstance(record, ParseError):
            raise record
        trial, notes = decoded(document, record, _trial.decode)
        found = [*_recorded(document, trial), *_episodes(document, trial)]
        main = next((one for one in found if isinstance(one, Trajectory)), None)
        if main is None:
            missing = document.missing("no recording or agent log beside the results: only the verdict is known")
            yield _verdict([Note("no-transcript", missing.message)], document, record, trial, notes)
            return
        about = _verdict([], document, record, trial, notes)
        yield replace(
            about,
            model=main.model,
            spans=main.spans,
            edges=main.edges,
            tools=main.tools,
            report=[*about.report[:-1], *main.report],
        )
        for other in found:
            if isinstance(other, ParseError):
                yield document.error(other.reason, record)
            elif other is not main and other.parent is not None:
                parent = replace(other.parent, trajectory=other.parent.trajectory.replace(main.id, about.id, 1))
                yield replace(other, id=other.id.replace(main.id, about.id, 1), parent=parent, dataset=about.dataset)
    except ParseError as error:
        yield error
    except InputError as error:
        yield document.error(str(error), record if isinstance(record, Record) else None)


def _verdict(remarks: list[Note], document: Document, record: Record, trial: Trial, notes: list[Note]) -> Trajectory:
    """The trial with what was asked, and no more than that; its last note is that nothing was done."""
    transcript = Transcript()
    if trial.instruction:
        transcript.add("user", trial.instruction, None)
    transcript.finish()
    failed = trial.failure_mode not in FINE
    if failed:
        remarks = [*remarks, Note("run-error", f"the harness says: {trial.failure_mode}")]
    member = MEMBER.search(trial.trial_name)
    return Trajectory(
        id=trial.trial_name,
        dataset=document.given_dataset or _run(trial) or document.dataset_of(record),
        task=trial.task_id,
        trial=member[1] if member else trial.trial_name,
        terminated=not failed,
        truncated="timeout" in (trial.failure_mode or ""),
        rewards=outcome_of(trial.is_resolved, at=trial.trial_ended_at),
        spans=transcript.spans,
        report=[*notes, *remarks, *transcript.notes],
        source=document.origin_of(FORMAT, record),
    )


def _run(trial: Trial) -> str | None:
    """The run: the folder in which the recording of every trial lies."""
    first = (trial.recording_path or "").replace("\\", "/").strip("/").partition("/")
    return first[0] if first[1] and first[0] not in ("", ".", "..") else None


# ---------------------------------------------------------------- what the terminal showed


def _recorded(document: Document, trial: Trial) -> Iterator[Trajectory | ParseError]:
    """The event stream that the agent's program printed on the terminal, as the trajectories in it."""
    name = document.name.rpartition("/")[2]
    flat = name.replace("results.json", "agent.cast")
    cast = document.beside("sessions/agent.cast", *([flat] if flat != name else []))
    if cast is None:
        return
    shown: list[str] = []
    for record in cast.records:
        if isinstance(record, ParseError):
            continue
        try:
            (_, kind, text), _ = decoded(cast, record, _cast.decode)
        except ParseError:
            continue  # the header
        if kind == "o":
            shown.append(text)
    lines = list(_events("".join(shown)))
    if lines:
        yield from sessions(Document(cast.name, b"\n".join(lines)), trial.instruction)


def _events(shown: str) -> Iterator[bytes]:
    """The JSON objects with a `type` in what a terminal showed, between whatever else was printed."""
    text = ESCAPES.sub("", shown)
    at, torn = text.find(EVENT), 0
    while at >= 0 and torn < MOST_TORN:
        end = _end_of_object(text, at)
        torn += end is None
        if end is not None:
            yield text[at:end].encode("utf-8", "replace")
        at = text.find(EVENT, at + 1 if end is None else end)


_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}]')


def _end_of_object(text: str, start: int) -> int | None:
    """Where the object that starts here ends, null where it never does."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


# ---------------------------------------------------------------- Terminus


def _episodes(document: Document, trial: Trial) -> Iterator[Trajectory]:
    """What Terminus was told and answered, an episode after the other."""
    transcript = Transcript()
    edges: list[Edge] = []
    typed: int | None = None
    noted = False
    for number in range(MOST_EPISODES):
        folder = f"agent-logs/episode-{number}"
        prompt = document.beside(f"{folder}/prompt.txt")
        answer = document.beside(f"{folder}/response.txt", f"{folder}/response.json")
        if prompt is None and answer is None:
            break
        if prompt is not None:
            text = prompt.data.decode("utf-8", "replace")
            if typed is not None:
                transcript.answer(typed, text, None, number)
                typed = None
            elif number and transcript.spans:
                edges.append(
                    Edge(len(transcript.spans) - 1, len(transcript.spans), "explicit", evidence="what it gave")
                )
                transcript.result(text, None, None, None, number)
            else:
                transcript.add("user", text, number)
        if answer is not None:
            typed = _answer(transcript, _said(answer.data), number)
            noted = noted or typed is not None
    if transcript.turn < 0:
        return
    transcript.finish()
    report = [note for note in transcript.notes if note.code != "orphan-result"]
    report += [Note(*SAID)] if noted else []
    yield Trajectory(id=trial.trial_name, spans=transcript.spans, edges=edges, report=report)


def _answer(transcript: Transcript, text: str, number: int) -> int | None:
    """One answer: what it says, and the call that types its commands, whose span is given; null where it types none."""
    transcript.begin_turn()
    for part in typed_call(text) or [Part("assistant", text)]:
        if part.arguments is None:
            transcript.add("assistant", part.text, number)
            continue
        transcript.call(part.name, None, part.arguments, number)
        call = len(transcript.spans) - 1
        transcript.mark(call, inferred=True)
        return call
    return None


def _said(data: bytes) -> str:
    """The text of an answer; of one that is JSON the JSON."""
    text = data.decode("utf-8", "replace")
    try:
        value: Any = _objects.decode(data)
    except REFUSED:
        return text
    return value if isinstance(value, str) else json_text(value)
