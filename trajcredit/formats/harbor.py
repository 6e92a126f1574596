"""The result of a Harbor trial, which lies beside what its agent wrote: task, verdict, tokens of every turn.

| note | says |
| --- | --- |
| `run-error` | the trial ended in an exception |
| `token-mismatch` | the result has tokens of another number of turns: they are left out |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import msgspec

from trajcredit.errors import ParseError
from trajcredit.formats.chat import outcome_of
from trajcredit.formats.document import Document, decoded
from trajcredit.model import Note, Reward, Span, TurnTokens

__all__ = ["Outcome", "Trial", "trial_beside"]

MAIN = "reward"
"""The verdict, where a verifier gives several numbers."""


class Verdict(msgspec.Struct, gc=False):
    """What the verifier says: numbers by name."""

    rewards: dict[str, float | bool | None] | None = None


class Worked(msgspec.Struct, gc=False):
    """What the agent did, as the harness counted it."""

    rollout_details: Any = None


class Trial(msgspec.Struct, gc=False):
    """The `result.json` of one trial."""

    trial_name: str | None = None
    task_name: str | None = None
    config: Any = None
    agent_result: Worked | None = None
    verifier_result: Verdict | None = None
    exception_info: Any = None
    finished_at: str | None = None

    @property
    def job(self) -> str | None:
        """The job that the trial belongs to: its folder's name, else its id."""
        config = self.config if isinstance(self.config, dict) else {}
        folder = config.get("trials_dir")
        if isinstance(folder, str) and folder.strip("/."):
            return PurePosixPath(folder.replace("\\", "/")).name
        job = config.get("job_id")
        return job if isinstance(job, str) and job else None

    def about(self, turns: int, spans: list[Span]) -> Outcome:
        """What the result says of a trajectory with so many turns."""
        failed = self.exception_info if isinstance(self.exception_info, dict) else {}
        kind = str(failed.get("exception_type") or failed.get("type") or "")
        outcome = Outcome(terminated=not failed, truncated="Timeout" in kind, rewards=self._rewards())
        if failed:
            said = failed.get("exception_message") or failed.get("message") or ""
            outcome.notes.append(Note("run-error", f"the trial ended in {kind or 'an exception'}: {str(said)[:500]}"))
        outcome.turns = self._turns(turns, outcome.notes)
        return outcome

    def _rewards(self) -> list[Reward]:
        """The verdict; all numbers by their names where the verifier does not say which one it is."""
        given = (self.verifier_result.rewards if self.verifier_result else None) or {}
        if given.get(MAIN) is not None:
            return outcome_of(given[MAIN], at=self.finished_at)
        found = ((name, reward) for name, value in given.items() for reward in outcome_of(value, at=self.finished_at))
        return [Reward(reward.value, reward.source, name=name, at=reward.at) for name, reward in found]

    def _turns(self, turns: int, notes: list[Note]) -> list[TurnTokens]:
        """The tokens of every turn of the agent itself, which comes first among those that the harness recorded."""
        details = self.agent_result.rollout_details if self.agent_result else None
        first = details[0] if isinstance(details, list) and details else None
        if not isinstance(first, dict):
            return []
        prompts, sampled, logprobs = (
            _lists(first.get(key)) for key in ("prompt_token_ids", "completion_token_ids", "logprobs")
        )
        if not sampled:
            return []
        if len(sampled) != turns:
            what = f"the result has tokens of {len(sampled)} turns, the transcript {turns}: left out"
            notes.append(Note("token-mismatch", what))
            return []
        return [
            TurnTokens(
                turn,
                _at(prompts, turn),
                ids,
                [float(x) for x in row] if (row := _at(logprobs, turn)) is not None and len(row) == len(ids) else None,
            )
            for turn, ids in enumerate(sampled)
        ]


@dataclass
class Outcome:
    """How a trial ended."""

    terminated: bool
    truncated: bool
    rewards: list[Reward]
    turns: list[TurnTokens] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


_trial = msgspec.json.Decoder(Trial)


def trial_beside(document: Document) -> Trial | None:
    """The trial that a file named `trajectory` belongs to: its result in the same folder, or in the one above."""
    name = document.name.rpartition("/")[2].removesuffix(".gz").removesuffix(".zst")
    stem = name.removesuffix(".json")
    if not stem.endswith("trajectory"):
        return None
    beside = f"{stem.removesuffix('trajectory')}result.json"
    found = document.beside(beside, *(["../result.json"] if stem == "trajectory" else []))
    if found is None or not found.records:
        return None
    [record] = found.records[:1]
    if isinstance(record, ParseError):
        raise record
    return decoded(found, record, _trial.decode)[0]


def _lists(value: Any) -> list[list[Any]]:
    """A list of lists of numbers, else none."""
    whole = isinstance(value, list) and all(
        isinstance(row, list) and all(type(item) in (int, float) for item in row) for row in value
    )
    return value if whole else []


def _at(rows: list[list[Any]], turn: int) -> list[Any] | None:
    return rows[turn] if turn < len(rows) else None
