"""State edges: a call that works on what an earlier call set up, wrote or looked at, though no value passes between."""

from __future__ import annotations

from dataclasses import dataclass, field

from trajcredit.graph.calls import Call, CallLog, Resource
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.effects import BUILDS, CHANGES, OVERWRITES, PUBLISHES, RUNS, STORES
from trajcredit.graph.evidence import CANDIDATE

__all__ = ["state_edges"]

SHORT_WRITE = 120
"""Characters of a write whose arguments hold no content: it stores what something else produced."""
SHORT_COMMAND = 80
"""Characters of a command that names nothing: it works on the state as it is."""
MOST_SESSIONS = 8
"""Session setters in force at once."""
MOST_LOOKS = 8
"""Unused looks that one effect is tied to: the latest."""
MOST_PUBLISHED = 64
"""Changes that one publishing call is tied to: the latest."""
MOST_REPAIRS = 8
"""Effects between a failure and the success of the same call."""


def state_edges(log: CallLog, edges: EdgeList) -> None:
    """Turn by turn: what each call rests on, then what the turn's calls have done. Calls of one turn do not meet."""
    world = World(_environment(log.calls))
    waiting: list[Call] = []
    for call in log.calls:
        if waiting and waiting[0].turn != call.turn:
            world.record(waiting)
            waiting = []
        world.link(call, edges)
        waiting.append(call)
    if not any(call.is_effect and call.act.does == "effect" for call in log.calls):
        _session_reads(log.calls, edges)


def _environment(calls: list[Call]) -> set[int]:
    """Resources that so many calls name that they tell nothing apart."""
    counts: dict[int, int] = {}
    for call in calls:
        for form in {name.form for name in call.names}:
            counts[form] = counts.get(form, 0) + 1
    most = max(8, len(calls) // 4)
    return {form for form, count in counts.items() if count > most}


@dataclass(slots=True)
class World:
    """What the calls so far have done: the last effect and the last look at every resource, sessions, runs."""

    environment: set[int]
    written: dict[int, tuple[Call, Resource]] = field(default_factory=dict)
    looked: dict[int, tuple[Call, Resource]] = field(default_factory=dict)
    unpublished: dict[int, Call] = field(default_factory=dict)
    """The last change of every resource, and changes of something that is not named, since the last publication."""
    setters: dict[tuple[str, str], Call] = field(default_factory=dict)
    runs: dict[str, Call] = field(default_factory=dict)
    last_effect: Call | None = None
    failed: dict[tuple[str, tuple[int, ...], int], int] = field(default_factory=dict)
    """A failed call (tool, resources, length) -> how many effects there had been."""
    effects: list[Call] = field(default_factory=list)
    variables: dict[tuple[str, str], Call] = field(default_factory=dict)
    """(tool, name) -> the code that set it last."""
    unused: list[Call] = field(default_factory=list)
    """Looks at what the user named, of this user turn, whose results nothing used."""

    def link(self, call: Call, edges: EdgeList) -> None:
        """Edges into one call."""
        self._resources(call, edges)
        self._sessions(call, edges)
        self._last_effect(call, edges)
        self._repair(call, edges)
        for name in call.code.reads if call.code is not None else ():
            setter = self.variables.get((call.tool, name))
            if setter is not None:
                edges.add(setter.span, call.span, "variable", detail=name)
        if call.is_effect:
            for look in self.unused[-MOST_LOOKS:]:
                if look.round == call.round:
                    edges.add(look.span, call.span, "looked_up")

    def record(self, calls: list[Call]) -> None:
        """What the calls of a finished turn have done."""
        for call in calls:
            if call.code is not None and not call.failed:
                self.variables.update({(call.tool, name): call for name in call.code.sets})
            if call.failed:
                self.failed[self._same(call)] = len(self.effects)
            elif call.is_effect:
                self._record_effect(call)
            else:
                self.looked.update({name.form: (call, name) for name in call.names})
                if call.from_user and not call.consumed:
                    self.unused.append(call)

    def _record_effect(self, call: Call) -> None:
        self.last_effect = call
        self.effects.append(call)
        self.unused = []
        changes = call.act.verb in CHANGES
        changed = [name for name in call.names if name.argument or (call.commands and changes)]
        if changes and not changed and not call.act.in_command:
            self.unpublished[-1 - call.span] = call
        for name in changed:
            self.written[name.form] = (call, name)
            if name.form not in self.environment:
                self.unpublished.pop(name.form, None)
                self.unpublished[name.form] = call
        if call.act.does == "setter" and call.length > len("{}"):  # what is given nothing sets nothing up
            self.setters.pop((call.tool, call.act.verb), None)
            self.setters[call.tool, call.act.verb] = call
            if len(self.setters) > MOST_SESSIONS:
                del self.setters[next(iter(self.setters))]
        if call.act.verb in RUNS or call.code is not None:
            self.runs[call.tool] = call
        if call.act.verb in PUBLISHES:
            self.unpublished = {}
        elif len(self.unpublished) > 2 * MOST_PUBLISHED:
            self.unpublished = dict(list(self.unpublished.items())[-MOST_PUBLISHED:])

    def _resources(self, call: Call, edges: EdgeList) -> None:
        for name in call.names:
            if name.form in self.environment:
                continue
            writer = self.written.get(name.form)
            if writer is not None and call.act.verb not in OVERWRITES:
                edges.add(writer[0].span, call.span, "read_after_write", (name.token, writer[1].token))
            looker = self.looked.get(name.form)
            if looker is not None and call.is_effect:
                weight = None if name.whole and looker[1].whole else CANDIDATE
                tokens = (name.token, looker[1].token)
                edges.add(looker[0].span, call.span, "write_after_read", tokens, weight=weight)
        if call.act.verb in PUBLISHES:
            changed = dict.fromkeys(effect.span for effect in self.unpublished.values())
            for span in list(changed)[-MOST_PUBLISHED:]:
                edges.add(span, call.span, "publish")

    def _sessions(self, call: Call, edges: EdgeList) -> None:
        for (tool, verb), setter in self.setters.items():
            if setter.consumed or (call.tool, call.act.verb) == (tool, verb):
                continue
            if call.tool == tool or (call.act.does == "effect" and not setter.act.in_command):
                edges.add(setter.span, call.span, "session")

    def _last_effect(self, call: Call, edges: EdgeList) -> None:
        if call.act.does == "check" and self.last_effect is not None:
            edges.add(self.last_effect.span, call.span, "check")
        elif (
            call.act.verb in BUILDS and not call.names and call.length < SHORT_COMMAND and self.last_effect is not None
        ):
            edges.add(self.last_effect.span, call.span, "build")
        stores = call.act.verb in STORES or (call.act.basis == "acknowledgement" and call.names)
        if call.is_effect and stores and call.length < SHORT_WRITE:
            run = next((run for tool, run in reversed(self.runs.items()) if tool != call.tool), None)
            if run is not None:
                edges.add(run.span, call.span, "run_output")

    def _repair(self, call: Call, edges: EdgeList) -> None:
        since = self.failed.get(self._same(call))
        if since is not None and not call.failed:
            for effect in self.effects[since:][-MOST_REPAIRS:]:
                edges.add(effect.span, call.span, "repair")

    @staticmethod
    def _same(call: Call) -> tuple[str, tuple[int, ...], int]:
        return call.tool, tuple(name.form for name in call.names), call.length


def _session_reads(calls: list[Call], edges: EdgeList) -> None:
    """Where nothing was changed, a session still shaped the reads that were used."""
    setters = [c for c in calls if c.act.does == "setter" and not c.failed and not c.consumed]
    for setter in setters[-MOST_SESSIONS:]:
        for call in calls:
            if call.turn > setter.turn and call.consumed and call.act.does != "setter":
                edges.add(setter.span, call.span, "session")
