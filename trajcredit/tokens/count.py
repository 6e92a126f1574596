"""What a file of tokens holds, how it was aligned, and what was left out: the report of every token export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from trajcredit.tokens.record import Aligned, Failure

__all__ = ["Counted"]

MOST_FAILURES = 20
"""Places that are kept; the rest is counted."""
MOST_NOTES = 50
"""Different notes that are kept; the rest is counted as one."""
OTHERS = "other notes"


@dataclass(slots=True)
class Counted:
    """Grows as trajectories are aligned."""

    trajectories: int = 0
    """That have rows."""
    rows: int = 0
    tokens: int = 0
    """Prompt and response, of all rows."""
    prompt: int = 0
    """Those before the first sampled one of each row."""
    trained: int = 0
    advantage_sum: float = 0.0
    """Over trained tokens, as exported."""
    exact: int = 0
    """Trained tokens whose ids the engine recorded."""
    retokenized: int = 0
    """Trained tokens whose ids a tokenizer made from the text."""
    cut_tokens: int = 0
    """Tokens behind the budget of their rows."""
    cut_trained: int = 0
    """Those among them that would be trained."""
    failed: int = 0
    """Trajectories whose tokens do not fit their spans, or the trainer's file."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Trajectories, by reason, that were not aligned at all."""
    failures: list[Failure] = field(default_factory=list)
    """The first places of the failed."""
    notes: Counter[str] = field(default_factory=Counter)
    """What was cut or guessed, and in how many trajectories."""

    @property
    def advantage_mean(self) -> float | None:
        """sum(advantage mask) / sum(mask); None where nothing is trained."""
        return self.advantage_sum / self.trained if self.trained else None

    def add(self, aligned: Aligned) -> None:
        """Count one trajectory."""
        if aligned.failures:
            self.failed += 1
            self.failures += aligned.failures[: MOST_FAILURES - len(self.failures)]
        self.trajectories += bool(aligned.rows)
        known = {note if note in self.notes or len(self.notes) < MOST_NOTES else OTHERS for note in aligned.notes}
        self.notes.update(known)
        self.cut_tokens += aligned.cut_tokens
        self.cut_trained += aligned.cut_trained
        for row in aligned.rows:
            self.rows += 1
            self.tokens += len(row.prompt_ids) + len(row.response_ids)
            self.prompt += len(row.prompt_ids)
            self.trained += row.trained
            self.advantage_sum += float(row.advantages.sum())
            if row.ids_source == "engine":
                self.exact += row.trained
            else:
                self.retokenized += row.trained

    def leave_out(self, reason: str) -> None:
        """Count one trajectory that is not exported, and why."""
        self.left_out[reason] += 1

    def lines(self) -> Iterator[str]:
        """The report in sentences."""
        yield (
            f"{self.trajectories} trajectories, {self.rows} rows: {self.tokens} tokens, {self.trained} trained, "
            f"mean advantage {'-' if self.advantage_mean is None else format(self.advantage_mean, '.6g')}"
        )
        told = f"exact {self.exact}, re-tokenized {self.retokenized} tokens; failed {self.failed} trajectories"
        yield f"alignment: {told}"
        if self.cut_tokens:
            yield f"cut at the budget: {self.cut_tokens} tokens, {self.cut_trained} of them trained"
        for reason, n in self.left_out.most_common():
            yield f"left out: {n} with {reason}"
        for note, n in self.notes.most_common():
            yield f"note: {note} ({n} trajectories)"
        for failure in self.failures:
            place = f"turn {failure.turn}" + ("" if failure.span is None else f", span {failure.span}")
            yield f"failed: {failure.trajectory_id}, {place}: {failure.reason}"

    def told(self) -> str:
        """The report on one line."""
        return "; ".join(self.lines())
