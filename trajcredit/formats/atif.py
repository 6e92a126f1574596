"""Harbor's Agent Trajectory Interchange Format, with the result of the trial where it lies beside.

| note | says |
| --- | --- |
| `continued` | the run goes on in further files: they are read with this one |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from trajcredit.errors import InputError, ParseError, SkippedFile
from trajcredit.formats.atif_steps import Run, Step
from trajcredit.formats.document import Document, Match, decoded
from trajcredit.formats.harbor import trial_beside
from trajcredit.formats.parts import tools_of
from trajcredit.formats.split import Record
from trajcredit.model import Note, SpawnedBy, Trajectory
from trajcredit.registry import formats

__all__ = ["Atif"]

FORMAT = "atif"
MOST_PARTS = 1000
"""Files a run may go on in."""


class Agent(msgspec.Struct, gc=False):
    """Who acted."""

    name: str | None = None
    model_name: str | None = None
    tool_definitions: msgspec.Raw = msgspec.Raw(b"null")


class Root(msgspec.Struct, gc=False):
    """The whole file."""

    steps: list[Step]
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Agent = msgspec.field(default_factory=Agent)
    continued_trajectory_ref: str | None = None
    subagent_trajectories: list[msgspec.Raw] | None = None

    @property
    def keys(self) -> tuple[str | None, str | None]:
        """What the call that started it may know it by."""
        return self.trajectory_id, self.session_id


_root = msgspec.json.Decoder(Root)


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class Atif:
    """ATIF, the trajectories of Harbor and Terminus, with task and reward from the trial's `result.json` beside it.

    Left out: final figures, notes, extras of other programs.
    """

    def sniff(self, document: Document) -> Match:
        """It names its version."""
        version = document.peek("schema_version")
        return Match.YES if isinstance(version, str) and version.startswith("ATIF-") else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a record, with the files it goes on in, then the agents it started."""
        for record in document.records:
            try:
                if isinstance(record, ParseError):
                    raise record
                root, notes = decoded(document, record, _root.decode)
                before = _part_before(document) if len(document.records) == 1 else None
                if before is not None:
                    raise SkippedFile(f"goes on from {before}: read with it", document.place)
                yield from _trajectories(document, record, root, notes)
            except ParseError as error:
                yield error
            except InputError as error:
                yield document.error(str(error), record if isinstance(record, Record) else None)


def _trajectories(document: Document, record: Record, root: Root, notes: list[Note]) -> Iterator[Trajectory]:
    run = Run()
    for index, step in enumerate(root.steps):
        run.add(step, index)
    for name, part in _further_parts(document, root):
        run.transcript.notes.append(Note("continued", f"goes on in {name}"))
        shared = _shared(root, part)
        for index, step in enumerate(part.steps):
            if index >= shared:
                run.add(step, index)
    run.finish()
    trial = trial_beside(document)
    called = root.trajectory_id or (trial.trial_name if trial else None) or root.session_id or document.name_of(record)
    about = trial.about(run.n_calls_of_model, run.transcript.spans) if trial else None
    yield Trajectory(
        id=called,
        dataset=(trial.job if trial else None) or document.dataset_of(record),
        task=trial.task_name if trial else None,
        trial=trial.trial_name if trial else None,
        model=run.model or root.agent.model_name,
        terminated=about.terminated if about else None,
        truncated=about.truncated if about else None,
        rewards=about.rewards if about else [],
        tools=list(tools_of(bytes(root.agent.tool_definitions))),
        spans=run.transcript.spans,
        edges=run.edges(),
        turns=run.turns or (about.turns if about else []),
        report=[*notes, *run.transcript.notes, *(about.notes if about else [_no_trial(document)])],
        source=document.origin_of(FORMAT, record),
    )
    yield from _sub_agents(document, record, root, called, run)


def _shared(first: Root, part: Root) -> int:
    """How many steps a part repeats from the beginning of the run."""
    shared = 0
    for old, new in zip(first.steps, part.steps, strict=False):
        if not new.is_copied_context or (old.source, old.message) != (new.source, new.message):
            break
        shared += 1
    return shared


def _no_trial(document: Document) -> Note:
    return document.missing("no result.json of a Harbor trial beside it: task and reward are unknown")


def _sub_agents(document: Document, record: Record, above: Root, parent: str, starter: Run) -> Iterator[Trajectory]:
    """The agents whose steps are in the file of the one that started them, each under a name of its own."""
    names: Counter[str] = Counter()
    for raw in above.subagent_trajectories or ():
        root, notes = decoded(document, Record(record.number, raw), _root.decode)
        name = root.trajectory_id or root.agent.name or "sub-agent"
        names[name] += 1
        called = f"{parent}/{name}" + (f"-{names[name]}" if names[name] > 1 else "")
        yield from _sub_agent(document, record, root, notes, called, SpawnedBy(parent, starter.call_of(root.keys)))


def _sub_agent(
    document: Document, record: Record, root: Root, notes: list[Note], called: str, parent: SpawnedBy
) -> Iterator[Trajectory]:
    run = Run()
    for index, step in enumerate(root.steps):
        run.add(step, index)
    run.finish()
    yield Trajectory(
        id=called,
        dataset=document.dataset_of(record),
        role=root.agent.name or "sub-agent",
        model=run.model or root.agent.model_name,
        parent=parent,
        tools=list(tools_of(bytes(root.agent.tool_definitions))),
        spans=run.transcript.spans,
        edges=run.edges(),
        turns=run.turns,
        report=notes + run.transcript.notes,
        source=document.origin_of(FORMAT, record),
    )
    yield from _sub_agents(document, record, root, called, run)


def _further_parts(document: Document, root: Root) -> Iterator[tuple[str, Root]]:
    """The files that a summarised run goes on in: those it names, else those numbered after it."""
    stem = document.name.rpartition("/")[2].removesuffix(".json")
    part, seen = root, {stem}
    for number in range(1, MOST_PARTS):
        if part.continued_trajectory_ref is None:
            return
        found = document.beside(part.continued_trajectory_ref, f"{stem}.cont-{number}.json")
        if found is None or found.name in seen:
            return
        seen.add(found.name)
        [record] = found.records[:1] or [found.error("is empty")]
        if isinstance(record, ParseError):
            raise record
        part, _ = decoded(found, record, _root.decode)
        yield found.name, part


def _part_before(document: Document) -> str | None:
    """The file that this one goes on from, where that lies beside it."""
    stem, mark, _ = document.name.rpartition("/")[2].rpartition(".cont-")
    first = document.beside(f"{stem}.json") if mark else None
    return first.name if first is not None and first.peek("continued_trajectory_ref") is not None else None
