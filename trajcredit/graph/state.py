"""State edges: a call that works on what an earlier call set up, wrote or looked at, though no value passes between."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from trajcredit.graph.calls import Call, CallLog, Resource
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.effects import BUILDS, CHANGES, INSTALLS, OVERWRITES, PUBLISHES, REVIEWS, RUNS, STORES
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
"""Effects between a call and the same call again that it is tied to: the latest."""
MOST_SINCE = 64
"""Effects that are looked through for them."""


def state_edges(
    log: CallLog, edges: EdgeList, forms_of: Callable[[int], Iterable[int]], text_at: Callable[[int], str]
) -> None:
    """Turn by turn: what each call rests on, then what the turn's calls have done. Calls of one turn do not meet.

    `forms_of`: values in a span, `text_at`: what a token says.
    """
    world = World(_environment(log.calls), forms_of, text_at)
    waiting: list[Call] = []
    for call in log.calls:
        if waiting and waiting[0].turn != call.turn:
            world.record(waiting)
            waiting = []
        world.link(call, edges)
        waiting.append(call)
    if not any(call.is_effect and call.act.does == "effect" for call in log.calls):
        _session_reads(log.calls, edges)


def _hands_in(call: Call) -> bool:
    """Whether a call submits what its arguments say (an answer) and not the work as it stands."""
    return call.act.verb == "submit" and call.word == "" and call.length > len("{}")


def _changes_files(effect: Call) -> bool:
    """Whether an effect installs something or changes files; a command line that changes files names them."""
    named = bool(effect.names) or not effect.act.in_command
    return effect.act.verb in INSTALLS or (effect.act.verb in CHANGES and named)


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
    forms_of: Callable[[int], Iterable[int]]
    text_at: Callable[[int], str]
    written: dict[int, tuple[Call, Resource | None]] = field(default_factory=dict)
    looked: dict[int, tuple[Call, Resource]] = field(default_factory=dict)
    unpublished: dict[int, Call] = field(default_factory=dict)
    """The last change of every resource, and changes of something that is not named, since the last publication."""
    published: Call | None = None
    setters: dict[tuple[str, str], Call] = field(default_factory=dict)
    runs: dict[str, Call] = field(default_factory=dict)
    last_effect: Call | None = None
    failed: dict[tuple[str, tuple[int, ...], int], tuple[int, int]] = field(default_factory=dict)
    """A failed call (tool, resources, length) -> where it was made last, and how many effects there had been."""
    effects: list[Call] = field(default_factory=list)
    made: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    """A call (tool, arguments) -> where it was made last, and how many effects there had been."""
    named: dict[int, int] = field(default_factory=dict)
    """Resource -> the first call that named it."""
    files: dict[int, list[Resource]] = field(default_factory=dict)
    """File -> the files that the last call that named it named."""
    variables: dict[tuple[str, str], Call] = field(default_factory=dict)
    """(tool, name) -> the code that set it last."""
    unused: list[Call] = field(default_factory=list)
    """Looks at what the user named, of this user turn, whose results nothing used."""

    def link(self, call: Call, edges: EdgeList) -> None:
        """Edges into one call."""
        self._resources(call, edges)
        self._unnamed(call, edges)
        self._sessions(call, edges)
        self._last_effect(call, edges)
        self._repair(call, edges)
        self._again(call, edges)
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
            for name in call.names:
                self.named.setdefault(name.form, call.span)
            files = [name for name in call.names if name.file]
            self.files.update({name.form: files for name in files})
            if call.code is not None and not call.failed:
                self.variables.update({(call.tool, name): call for name in call.code.sets})
            if call.failed:
                self.failed[self._same(call)] = (call.span, len(self.effects))
            elif call.is_effect:
                self._record_effect(call)
            else:
                self.looked.update({name.form: (call, name) for name in call.names})
                if call.from_user and not call.consumed:
                    self.unused.append(call)
        self.made.update({(call.tool, call.said): (call.span, len(self.effects)) for call in calls})

    def _record_effect(self, call: Call) -> None:
        self.last_effect = call
        self.effects.append(call)
        self.unused = []
        changes = call.act.verb in CHANGES
        changed = [name for name in call.names if name.argument or (call.commands and changes)]
        if changes and not changed and not call.act.in_command:
            self.unpublished[-1 - call.span] = call
        self.written.update({name.form: (call, None) for name in self._open_file(call)})
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
        if call.act.verb in PUBLISHES and not _hands_in(call):
            self.unpublished, self.published = {}, call
        elif len(self.unpublished) > 2 * MOST_PUBLISHED:
            self.unpublished = dict(list(self.unpublished.items())[-MOST_PUBLISHED:])

    def _open_file(self, call: Call) -> list[Resource]:
        """Of a change that names nothing, the first file that its result shows and an earlier call had named."""
        unnamed = call.act.verb in CHANGES and not call.act.in_command and not any(name.argument for name in call.names)
        shown = self.forms_of(call.result) if unnamed and call.is_effect and call.result is not None else ()
        return next((self.files[form] for form in shown if form in self.files), [])

    def _unnamed(self, call: Call, edges: EdgeList) -> None:
        """A change that names nothing rests on the last change of the file that is open, and on the last look at it."""
        for name in self._open_file(call):
            for known, rule in ((self.written, "file_after_write"), (self.looked, "write_after_look")):
                if name.form in known and name.form not in self.environment:
                    edges.add(known[name.form][0].span, call.span, rule, detail=repr(self.text_at(name.token)))

    def _resources(self, call: Call, edges: EdgeList) -> None:
        for name in call.names:
            if name.form in self.environment:
                continue
            writer = self.written.get(name.form)
            if writer is not None and call.act.verb not in OVERWRITES:
                rule = "file_after_write" if name.file else "read_after_write"
                if writer[1] is not None:
                    edges.add(writer[0].span, call.span, rule, (name.token, writer[1].token))
                else:
                    edges.add(writer[0].span, call.span, rule, detail=repr(self.text_at(name.token)))
            looker = self.looked.get(name.form)
            if looker is not None and call.is_effect:
                mentioned = not (name.whole and looker[1].whole)
                rule = "write_after_look" if name.file and not mentioned else "write_after_read"
                tokens = (name.token, looker[1].token)
                edges.add(looker[0].span, call.span, rule, tokens, weight=CANDIDATE if mentioned else None)
        reviews = call.act.in_command and call.act.verb in REVIEWS and not call.names
        if reviews or (call.act.verb in PUBLISHES and not _hands_in(call)):
            changed = dict.fromkeys(effect.span for effect in self.unpublished.values())
            if not changed and self.published is not None:
                changed = {self.published.span: None}  # a push after a commit
            for span in list(changed)[-MOST_PUBLISHED:]:
                edges.add(span, call.span, "review" if reviews else "publish")

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
            call.act.verb in BUILDS
            and not call.names
            and len(call.command or call.said) < SHORT_COMMAND
            and self.last_effect is not None
        ):
            edges.add(self.last_effect.span, call.span, "build")
        stores = call.act.verb in STORES or (call.act.basis == "acknowledgement" and call.names)
        if call.is_effect and stores and call.length < SHORT_WRITE:
            run = next((run for tool, run in reversed(self.runs.items()) if tool != call.tool), None)
            if run is not None:
                edges.add(run.span, call.span, "run_output")

    def _repair(self, call: Call, edges: EdgeList) -> None:
        before = self.failed.get(self._same(call))
        for effect in self._changes(call, *before) if before is not None and not call.failed else ():
            edges.add(effect.span, call.span, "repair")

    def _again(self, call: Call, edges: EdgeList) -> None:
        """Who runs the same test or program twice looks at what has changed in between."""
        runs = call.commands and (call.act.does == "check" or call.act.verb in RUNS or call.act.verb in BUILDS)
        before = self.made.get((call.tool, call.said)) if runs else None
        for effect in self._changes(call, *before) if before is not None else ():
            edges.add(effect.span, call.span, "again")

    def _changes(self, call: Call, span: int, since: int) -> list[Call]:
        """The latest effects from the so-many-th on that can make a difference to a call made before at `span`.

        To a command line only what changes files or installs something. What a run of a program changes is not told,
        and what nobody had named by then that call did without.
        """
        latest = self.effects[max(since, len(self.effects) - MOST_SINCE) :]
        changes = [effect for effect in latest if effect.stores and effect.act.verb not in PUBLISHES]
        if call.commands:
            changes = [effect for effect in changes if _changes_files(effect)]
        return [effect for effect in changes if self._known(effect, span)][-MOST_REPAIRS:]

    def _known(self, effect: Call, span: int) -> bool:
        whole = [name.form for name in effect.names if name.whole]
        changed = whole or [name.form for name in effect.names if effect.commands]
        return not changed or any(self.named[form] <= span for form in changed)

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
