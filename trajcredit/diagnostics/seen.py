"""What is read of one transcript, once, so that thousands of them need not be in memory together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajcredit.diagnostics.calls import Again, Outdated, doubled, effects, outdated, repeated, results_of, unused
from trajcredit.diagnostics.form import form_of
from trajcredit.diagnostics.sampled import Sampled, sampled_of
from trajcredit.graph import SpanGraph
from trajcredit.tokens.versions import versions_of

__all__ = ["Seen", "seen_of"]


@dataclass(frozen=True, slots=True)
class Seen:
    """Facts of one trajectory; spans are positions in it."""

    task: tuple[str, ...] | None
    """Equal for rollouts of one task by one role, whatever the training step; null where the log names none."""
    dataset: str | None
    policy_version: str | None
    model: str | None
    step: int | None
    versions: tuple[str, ...]
    """Every policy version that sampled some of it."""
    calls: tuple[tuple[int, str], ...]
    """Calls that were answered: span and tool."""
    repeats: tuple[Again, ...]
    results: int
    """That say something."""
    unused: int
    effects: int
    doubles: tuple[Again, ...]
    outdated: tuple[Outdated, ...]
    form: tuple[float, ...]
    sampled: Sampled
    declared: bool
    """Whether the log lists the tools."""
    instructed: bool
    """Whether it has a system prompt."""
    broken: int
    """Calls whose arguments are no JSON."""
    told_broken: int
    """Of these the ones whose result is an error."""
    terminal: bool
    """Whether the log says how it ended."""

    def tool(self, span: int) -> str:
        """The tool of an answered call; `span` for anything else."""
        return next((name for i, name in self.calls if i == span), "span")


def seen_of(graph: SpanGraph, keys: Sequence[int]) -> Seen:
    """Of one trajectory; keys: the call_key of every span."""
    t = graph.trajectory
    answers = results_of(t.spans)
    ignored, results = unused(graph)
    broken = [i for i, s in enumerate(t.spans) if s.kind == "tool_call" and s.arguments is None and s.arguments_raw]
    name = t.task if t.task is not None else t.group
    return Seen(
        task=None if name is None else (name, t.role or ""),
        dataset=t.dataset,
        policy_version=t.policy_version,
        model=t.model,
        step=t.step,
        versions=tuple(versions_of(t)),
        calls=tuple((i, t.spans[i].name or "call") for i in sorted(answers) if t.spans[i].kind == "tool_call"),
        repeats=tuple(repeated(graph, keys)),
        results=results,
        unused=ignored,
        effects=sum(1 for _ in effects(graph)),
        doubles=tuple(doubled(graph, keys)),
        outdated=tuple(outdated(graph, keys)),
        form=form_of(t.spans),
        sampled=sampled_of(t),
        declared=bool(t.tools),
        instructed=any(span.kind == "system" for span in t.spans),
        broken=len(broken),
        told_broken=sum(bool(graph.is_error[i]) for i in broken),
        terminal=t.terminated is not None or t.truncated is not None,
    )
