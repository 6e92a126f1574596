"""What every token exporter shares: credit -> token rows, whom it leaves out, and what was counted.

An exporter adds how its trainer wants a row: `encode`. Rows are made, whitened and written one at a time, so that
memory does not grow with the number of trajectories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Literal

import msgspec
import numpy as np

from trajcredit.errors import InputError
from trajcredit.exporters.branches import Branches
from trajcredit.exporters.credit import Credit
from trajcredit.exporters.rows import Exported
from trajcredit.exporters.whitening import WHITENINGS, Whitening, whitened
from trajcredit.model import Trajectory
from trajcredit.tokens import SHARES, Aligned, Counted, Failure, MisalignedError, Renderer, Share, TokenRow, align
from trajcredit.tokens.versions import version_number, versions_of

__all__ = ["TokenExporter"]


@dataclass(frozen=True, slots=True)
class TokenExporter:
    """Parameters of all token exporters; each defines `suffix` and `encode`."""

    tokenizer: str | None = None
    """Folder of a tokenizer, or its tokenizer.json: tells the spans of a turn apart, and makes ids where the log has
    none."""
    chat_template: str | None = None
    """File of a chat template; none = the tokenizer's own."""
    template_variables: tuple[str, ...] = ()
    """What the template is told besides, NAME=VALUE, e.g. enable_thinking=false; values are JSON, else text."""
    stop: bool = True
    """Train the token that ends a turn, where ids are made from the text; logged ids say what was sampled."""
    share: Share = "copy"
    """A span's advantage on each of its tokens (copy), divided by their count, or whole on the last one."""
    whiten: Whitening = "none"
    """Give the advantages of all trained tokens of the file mean 0 and spread 1, as that trainer does it."""
    misaligned: Literal["stop", "drop"] = "stop"
    """A trajectory whose tokens do not fit its spans, or this trainer's file, stops the export, or is left out and
    counted."""
    max_tokens: int | None = None
    """Cut longer rows at their end, which is counted; none = never."""
    max_lag: int | None = None
    """Withhold rollouts whose policy version is more than this behind current_version; they stay in baselines."""
    current_version: int | None = None
    """The version of the policy to be trained, for max_lag."""

    suffix: ClassVar[str] = ".jsonl"

    def __post_init__(self) -> None:
        """InputError names a parameter out of range."""
        for name, choices in (("share", SHARES), ("whiten", WHITENINGS), ("misaligned", ("stop", "drop"))):
            if getattr(self, name) not in choices:
                raise InputError(f"parameter {name}={getattr(self, name)!r}: expected {' | '.join(choices)}")
        for name, least in (("max_tokens", 2), ("max_lag", 0)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise InputError(f"parameter {name}={value!r}: expected a whole number of {least} or more")
        if (self.max_lag is None) != (self.current_version is None):
            raise InputError("max_lag and current_version go together: a lag is counted from a version")

    def __call__(self, scored: Iterable[Credit], out: BinaryIO) -> Exported:
        """Write the rows of one attributor's credit.

        InputError where two attributors are in it, where nothing is left to train, and, unless `misaligned=drop`, at
        the first trajectory whose tokens do not fit its spans.
        """
        counted = Counted()
        written = self.encode(whitened(self.rows(scored, counted), self.whiten, counted), out)
        if not written:
            raise InputError(f"no row to train: {counted.told()}")
        return Exported(written, counted)

    def encode(self, rows: Iterator[TokenRow], out: BinaryIO) -> int:
        """Write rows as the trainer wants them; how many."""
        raise NotImplementedError

    def check(self, rows: Sequence[TokenRow]) -> None:
        """Called with the rows of each trajectory, before any whitening, so that one can be left out.

        MisalignedError where this trainer's file cannot hold them: no log-probs, say.
        """

    def rows(self, scored: Iterable[Credit], counted: Counted) -> Iterator[TokenRow]:
        """The rows of every trajectory that is scored, fresh and aligned, before any whitening; counts as they go."""
        for trajectory, aligned in self._aligned(scored, counted):
            if aligned.failures and self.misaligned == "stop":
                failure = aligned.failures[0]
                place = f"turn {failure.turn}" + ("" if failure.span is None else f", span {failure.span}")
                raise InputError(
                    f"{trajectory.id}, {place}: {failure.reason}; misaligned=drop leaves such trajectories out"
                )
            yield from aligned.rows

    def renderer(self) -> Renderer | None:
        """The tokenizer with its chat template; None where none is named. InputError where it cannot be read."""
        if self.tokenizer is None:
            for name in ("chat_template", "template_variables"):
                if getattr(self, name):
                    raise InputError(f"{name} needs a tokenizer: give tokenizer=")
            return None
        variables = dict(map(_variable, self.template_variables))
        return Renderer.load(self.tokenizer, self.chat_template, variables=variables, stop=self.stop)

    def _aligned(self, scored: Iterable[Credit], counted: Counted) -> Iterator[tuple[Trajectory, Aligned]]:
        """Each trajectory that is scored and fresh, with its rows or why it has none; `counted` grows."""
        renderer = self.renderer()
        branches = Branches()
        before: Credit | None = None
        for credit in scored:
            if before is not None:
                _check_same(before, credit)
            before = credit
            if credit.batch.graphs is None:
                raise InputError("this batch was loaded without its transcripts, and tokens are found from them")
            batch = credit.batch
            for t, graph in enumerate(credit.batch.graphs):
                branches.meet(graph.trajectory)
                if (why := self._left_out(graph.trajectory, float(batch.outcome[t]))) is not None:
                    counted.leave_out(why)
                    continue
                piece = slice(int(batch.span_offsets[t]), int(batch.span_offsets[t + 1]))
                if not batch.action_mask[piece].any():
                    counted.leave_out("no action to train")
                    continue
                aligned = _prompted(
                    align(
                        graph.trajectory,
                        credit.advantage[piece],
                        batch.group_ids[int(batch.group[t])],
                        renderer=renderer,
                        share=self.share,
                        max_tokens=self.max_tokens,
                        outcome=float(batch.outcome[t]),
                    )
                )
                aligned = self._held(graph.trajectory, branches.own(graph.trajectory, aligned))
                if not (aligned.rows or aligned.failures):
                    counted.leave_out("nothing of its own to train: an earlier branch of the trace has it")
                    continue
                branches.keep(graph.trajectory, aligned.rows)
                counted.add(aligned)
                yield graph.trajectory, aligned

    def _held(self, trajectory: Trajectory, aligned: Aligned) -> Aligned:
        """The same, failed where the trainer's file cannot hold it."""
        try:
            self.check(aligned.rows)
        except MisalignedError as wrong:
            failure = Failure(trajectory.id, wrong.turn, wrong.span, wrong.reason)
            return Aligned((), (failure,), aligned.notes)
        return aligned

    def _left_out(self, trajectory: Trajectory, outcome: float) -> str | None:
        """Why a trajectory is not exported; None where it is."""
        if np.isnan(outcome):
            return "no reward"
        if self.max_lag is None or self.current_version is None:
            return None
        versions = versions_of(trajectory)
        if not versions:
            return "no policy version, so nobody knows whether it is stale"
        numbers = [version_number(version) for version in versions]
        if None in numbers:
            odd = versions[numbers.index(None)]
            raise InputError(f"{trajectory.id}: policy version {odd!r} is no number, so max_lag cannot be counted")
        lag = self.current_version - min(number for number in numbers if number is not None)
        return f"a policy version more than {self.max_lag} behind" if lag > self.max_lag else None


def _check_same(before: Credit, credit: Credit) -> None:
    """InputError where a second run begins: each of its rows would be a second row of the same tokens."""
    if before.attributor != credit.attributor:
        both = f"{before.attributor} and {credit.attributor}"
    elif before.parameters != credit.parameters or before.run_id != credit.run_id:
        both = f"{before.attributor} twice, of different runs"
    elif before.batch is credit.batch:
        both = f"{before.attributor} twice, of the same trajectories"
    else:
        return
    raise InputError(f"a token file holds the advantages of one attributor: found {both}")


def _variable(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier()):
        raise InputError(f"template_variables {text!r}: expected NAME=VALUE")
    try:
        return name, msgspec.json.decode(value)
    except msgspec.DecodeError:
        return name, value


def _prompted(aligned: Aligned) -> Aligned:
    """The same, failed where a row has no prompt: a first token that follows nothing has no log-prob to be trained."""
    bare = next((row for row in aligned.rows if not len(row.prompt_ids)), None)
    if bare is None:
        return aligned
    why = "no token comes before the first sampled one, which therefore cannot be trained"
    first = bare.spans[0]
    return Aligned((), (Failure(bare.trajectory_id, first.turn, first.span, why),), aligned.notes)
