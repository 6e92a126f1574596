"""One trajectory as it grows: what requests add to what is known, what answers say, and what tools return.

| note | says |
| --- | --- |
| `context-rewritten` | a request does not begin with the history before it: compaction, a new prompt, a hand-off |
| `copied-answer` | an answer in a rewritten context that no request in the log gave: kept, without credit |
| `content-off` | the log keeps that something was said, not what |
| `unlogged-request` | a tool ran and no answer in the log calls it: the call is taken from the tool's own span |
| `unknown-role` | a message has a role that none of the known forms has: kept as something the agent was told |
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from trajcredit.formats.contexts import Context
from trajcredit.formats.otlp import iso
from trajcredit.formats.parts import Arguments
from trajcredit.formats.said import Key, Piece
from trajcredit.formats.steps import Step
from trajcredit.formats.toolruns import ToolRuns
from trajcredit.formats.transcript import Transcript
from trajcredit.model import ACTION_KINDS, Reward, SpanTokens, Tool, TurnTokens

__all__ = ["Episode"]

UNKNOWN = Arguments(None, None)
"""Arguments that the log does not keep."""


class Episode:
    """The spans of one agent's context, with the runs of the tools whose results are still to come."""

    def __init__(self, number: int, first: Step, scope: str | None, system: Key | None, runs: ToolRuns) -> None:
        self.number = number
        self.first = first
        self.scope = scope
        """The agent or tool that it happens in."""
        self.system = system
        self.context: Context | None = None
        """What it had before it when it last spoke."""
        self.transcript = Transcript()
        self.tools: dict[str, Tool] = {}
        self.models: set[str] = set()
        self.turns: list[TurnTokens] = []
        self.called: dict[str, int] = {}
        """Run of a tool -> the span of its call."""
        self._all_runs = runs
        self._runs: dict[int, Step] = {}  # span of a call -> its run, until the result is there
        self._silent: Step | None = None  # a request whose answer is not logged
        self._acted = False  # whether a tool ran for it
        self._own: dict[str, int] = {}  # id of a call -> its result, where that is from the tool's own span
        self._rewards: list[tuple[int, Reward]] = []

    # ---------------------------------------------------------------- what requests add

    def hear(self, pieces: Sequence[Piece], copied: Sequence[bool] | None, step: Step) -> None:
        """What is new in a request: results first, which answer open calls; answers in it begin turns of their own.

        `copied` says which pieces stood in a context that was rewritten; null where it was not.
        """
        self._speak_up()
        if copied is not None and pieces:
            next_ = len(self.transcript.spans)
            self.transcript.note("context-rewritten", f"request {step.id} does not begin with what was known", next_)
        speaking = False
        for i, piece in enumerate(pieces):
            if piece.kind != "tool_result":
                self._results(step)
            if piece.kind not in ACTION_KINDS:
                self._add(piece, step)
                speaking = False
            elif copied is not None and copied[i]:
                self._copy(piece, step)
            else:
                if not speaking or (piece.kind != "tool_call" and self._ends_in_call()):
                    self.transcript.begin_turn()
                speaking = True
                self._add(piece, step)
                if piece.kind == "tool_call":
                    self._run(self._all_runs.claim(piece, step.scope))
        self._results(step)

    def stand_beside(self, step: Step) -> None:
        """What a request around this one, or inside of it, was asked besides."""
        for text in step.beside:
            self.transcript.add("meta", text, step.at, step.agent)
            self.transcript.note("nested-request", f"asked of a request around {step.id} or inside of it, not of that")

    def _copy(self, piece: Piece, step: Step) -> None:
        """An answer that the agent gave elsewhere, or that somebody wrote for it."""
        arguments = piece.arguments.raw or piece.arguments.value if piece.arguments else ""
        text = piece.text if piece.kind != "tool_call" else f"{piece.name}({arguments})"
        self.transcript.add("meta", text, step.at, step.agent)
        self.transcript.note("copied-answer", "stands in a rewritten context, and no request in the log gave it")

    def _ends_in_call(self) -> bool:
        return bool(self.transcript.spans) and self.transcript.spans[-1].kind == "tool_call"

    # ---------------------------------------------------------------- what the agent does

    def say(self, step: Step, runs: Sequence[Step | None]) -> None:
        """The answer of a step, and the runs of the tools that it calls."""
        self._speak_up()
        transcript = self.transcript
        transcript.begin_turn()
        first = len(transcript.spans)
        waiting = iter(runs)
        for number, message in enumerate(step.answered):
            mine = [next(waiting) for piece in message if piece.kind == "tool_call"]
            if number and self._goes_on_after_results(mine):
                self._results(None)
                transcript.begin_turn()
            for piece in message:
                start = len(transcript.spans)
                self._add(piece, step)
                transcript.mark(start, started_at=iso(step.start), ended_at=iso(step.end))
                if piece.kind == "tool_call":
                    self._run(mine.pop(0))
        self._account(step, first)

    def _goes_on_after_results(self, mine: Sequence[Step | None]) -> bool:
        """Whether an answer in several messages goes on only after the tools have run that those before it call."""
        ends = [run.end for run in self._runs.values() if run.end is not None]
        starts = [run.start for run in mine if run is not None and run.start is not None]
        return bool(ends) and (not mine or any(start >= min(ends) for start in starts))

    def stay_silent(self, step: Step) -> None:
        """A request was answered, and the log does not keep how: by the tools that run next, or else by a text."""
        self._speak_up()
        self.transcript.begin_turn()
        self._silent, self._acted = step, False

    def _speak_up(self) -> None:
        """No tool ran after a request without a logged answer: it gave a text."""
        step, self._silent = self._silent, None
        if step is not None and not self._acted:
            first = len(self.transcript.spans)
            self.transcript.add("assistant", "", step.at, step.agent)
            self.transcript.note("content-off", "the log does not keep what was answered")
            self.transcript.mark(first, started_at=iso(step.start), ended_at=iso(step.end))
            self._account(step, first)

    def ran(self, step: Step) -> None:
        """A tool that no answer in the log calls: its call is taken from its own span."""
        request = self._silent
        if request is None and not self._overlaps(step):
            self._results(None)
            self.transcript.begin_turn()
        first = len(self.transcript.spans)
        self.transcript.call(step.name, step.call_id, step.arguments or UNKNOWN, step.at, step.agent)
        self._run(step)
        if request is not None:
            self.transcript.mark(first, started_at=iso(request.start), ended_at=iso(request.end))
            if not self._acted:
                self._account(request, first)
            self._acted = True
        self.transcript.note("unlogged-request", f"no answer in the log calls {step.name}: its own span does", first)

    def _overlaps(self, step: Step) -> bool:
        """Whether a tool began before those that run had ended: they were called together."""
        ends = [run.end for run in self._runs.values()]
        return any(end is None or step.start is None or step.start < end for end in ends)

    # ---------------------------------------------------------------- what tools return

    def _run(self, run: Step | None) -> None:
        """The run of the tool that the call just added calls."""
        if run is not None:
            index = len(self.transcript.spans) - 1
            self._runs[index] = run
            self.called[run.id] = index

    def _results(self, step: Step | None) -> None:
        """Results that only the tools' own spans have: of those that ended before a step began, null: of all."""
        for call, run in list(self._runs.items()):
            if step is None or run.end is None or step.start is None or run.end <= step.start:
                del self._runs[call]
                start = len(self.transcript.spans)
                text = run.result if run.result is not None else run.why if run.failed else None
                if call_id := self.transcript.spans[call].call_id:
                    self._own[call_id] = start
                self.transcript.answer(call, text or "", run.failed, run.at, run.agent)
                if text is None:
                    self.transcript.note("content-off", f"the log does not keep what {run.name} returned")
                self.transcript.mark(start, started_at=iso(run.start), ended_at=iso(run.end))
                self._reward(run)

    def _heard(self) -> None:
        """The result just added, with what its tool's own span knows of it."""
        index = len(self.transcript.spans) - 1
        span = self.transcript.spans[index]
        run = self._runs.pop(span.result_of, None) if span.result_of is not None else None
        if run is not None:
            error = run.failed if span.error is None else None
            self.transcript.mark(index, error=error, started_at=iso(run.start), ended_at=iso(run.end))
            self._reward(run)

    def _saw(self, index: int, piece: Piece, step: Step) -> None:
        """What the model saw of a result that stands there as its tool's own span has it."""
        transcript = self.transcript
        transcript.spans[index] = replace(transcript.spans[index], text=piece.text, message_index=step.at)
        if piece.error is not None:
            transcript.spans[index] = replace(transcript.spans[index], error=piece.error)
        transcript.notes = [n for n in transcript.notes if n.span != index or n.code != "content-off"]

    # ---------------------------------------------------------------- spans

    def _add(self, piece: Piece, step: Step) -> None:
        transcript, at, agent = self.transcript, step.at, step.agent
        if piece.kind == "tool_call":
            self._own.pop(piece.call_id or "", None)
            transcript.call(piece.name, piece.call_id, piece.arguments or UNKNOWN, at, agent)
        elif piece.kind == "tool_result" and piece.call_id in self._own:
            self._saw(self._own.pop(piece.call_id), piece, step)
            return
        elif piece.kind == "tool_result":
            transcript.result(piece.text, piece.call_id, piece.name, piece.error, at, agent)
            self._heard()
        else:
            transcript.add(piece.kind, piece.text, at, agent if piece.kind in ACTION_KINDS else piece.name)
        if piece.inferred:
            transcript.mark(len(transcript.spans) - 1, inferred=True)
        if piece.opaque:
            transcript.opaque(piece.opaque)
        if piece.odd_role is not None:
            transcript.note("unknown-role", f"role {piece.odd_role!r}: kept as something the agent was told")

    def _account(self, step: Step, first: int) -> None:
        """What a turn cost, its token ids, and the rewards it got."""
        transcript, ids = self.transcript, step.ids
        transcript.count(step.usage, first)
        if ids is not None:
            tokens = TurnTokens(transcript.turn, ids.prompt, ids.sampled, ids.logprobs, ids.policy_version)
            self.turns.append(tokens)
            if len(transcript.spans) == first + 1 and ids.sampled is not None:
                transcript.mark(first, tokens=SpanTokens(ids.sampled, ids.logprobs, n=len(ids.sampled)))
        self._reward(step)

    def _reward(self, step: Step) -> None:
        """Rewards on the span that was added last."""
        self._rewards += [(len(self.transcript.spans) - 1, reward) for reward in step.rewards]

    # ---------------------------------------------------------------- the end

    def end(self) -> None:
        """Nothing more comes: what tools returned last, then what only the whole can tell."""
        self._speak_up()
        self._results(None)
        if self.transcript.spans:
            self.transcript.finish()

    def place(self, index: int) -> int:
        """Where a span stands after the end."""
        return index if self.transcript.moved is None else self.transcript.moved[index]

    def rewards(self) -> list[Reward]:
        """The rewards on spans, where those stand after the end."""
        return [replace(reward, span=self.place(index)) for index, reward in self._rewards]
