"""State edges: a call that works on what an earlier call set up, wrote or looked at, though no value passes between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from trajcredit.graph.calls import Call, CallLog, Resource
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.effects import (
    BUILDS,
    CHANGES,
    INSTALLS,
    OVERWRITES,
    PUBLISHES,
    REVIEWS,
    RUNS,
    STORES,
    program_of,
)
from trajcredit.graph.evidence import CANDIDATE
from trajcredit.graph.failures import finds_fault

__all__ = ["Texts", "state_edges"]

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


@dataclass(frozen=True, slots=True)
class Texts:
    """What the spans of one trajectory say."""

    forms_of: Callable[[int], Iterable[int]]
    """Values in a span, in order."""
    telling_of: Callable[..., Set[int]]
    """Those of them that are more than words of the language; with a second argument true, or stand in quotes."""
    text_at: Callable[[int], str]
    """What a token says."""


def state_edges(log: CallLog, edges: EdgeList, texts: Texts) -> None:
    """Turn by turn: what each call rests on, then what the turn's calls have done. Calls of one turn do not meet."""
    world = World(log, _environment(log.calls), texts)
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


def _suffix(name: str) -> str:
    """The suffix of a file's name; "" where it has none."""
    stem, dot, suffix = name.rsplit("/", 1)[-1].rpartition(".")
    return suffix.lower() if stem and dot else ""


def _names_no_more(command: str, earlier: str) -> bool:
    """Whether a command line is about nothing that an earlier one was not about: a status, or what that one changed."""
    words = [word for word in command.split() if not word.startswith("-") and ">" not in word]
    names = words[2:] if len(words) > 1 and words[1].isalpha() else words[1:]
    return len(command) < SHORT_COMMAND and all(name in earlier for name in names)


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


class Change(NamedTuple):
    """An effect that stored something and published nothing."""

    number: int
    """How many effects there had been before."""
    call: Call
    files: bool
    """It changes files or installs something: what a command line can meet."""
    known: int
    """The first span that named what it changes; -1 where it changes nothing that is named."""


@dataclass(slots=True)
class World:
    """What the calls so far have done: the last effect and the last look at every resource, sessions, runs."""

    log: CallLog
    environment: set[int]
    texts: Texts
    written: dict[int, tuple[Call, Resource | None]] = field(default_factory=dict)
    looked: dict[int, tuple[Call, Resource]] = field(default_factory=dict)
    unpublished: dict[int, Call] = field(default_factory=dict)
    """The last change of every resource, and changes of something that is not named, since the last publication."""
    published: Call | None = None
    setters: dict[tuple[str, str], Call] = field(default_factory=dict)
    runs: dict[str, Call] = field(default_factory=dict)
    last_effect: Call | None = None
    programs: dict[str, Call] = field(default_factory=dict)
    """Program of command lines -> the last of them that changed its state."""
    failed: dict[tuple[str, tuple[int, ...], int], tuple[int, int]] = field(default_factory=dict)
    """A failed call (tool, resources, length) -> where it was made last, and how many effects there had been."""
    kinds: dict[str, set[str]] = field(default_factory=dict)
    """Program -> suffixes of the files that its command lines named."""
    n_effects: int = 0
    changes: list[Change] = field(default_factory=list)
    """Effects that can make a difference to who does the same again, in order."""
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
                if look.round == call.round and self._takes_up(call, look):
                    edges.add(look.span, call.span, "taken_up")
                elif look.round == call.round and not any(self._is_own(look, name, edges) for name in look.names):
                    edges.add(look.span, call.span, "looked_up")

    def record(self, calls: list[Call]) -> None:
        """What the calls of a finished turn have done."""
        for call in calls:
            if call.command and call.names:
                self.kinds.setdefault(program_of(call.command), set()).update(self._kinds_of(call))
            for name in call.names:
                self.named.setdefault(name.form, call.span)
            files = [name for name in call.names if name.file]
            self.files.update({name.form: files for name in files})
            if call.code is not None and not call.failed:
                self.variables.update({(call.tool, name): call for name in call.code.sets})
            if call.failed:
                self.failed[self._same(call)] = (call.span, self.n_effects)
                continue
            self.failed.pop(self._same(call), None)
            if call.is_effect:
                self._record_effect(call)
            else:
                self.looked.update({name.form: (call, name) for name in call.names})
                if call.from_user and not call.consumed:
                    self.unused.append(call)
        self.made.update({(call.tool, call.said): (call.span, self.n_effects) for call in calls})

    def _record_effect(self, call: Call) -> None:
        self.last_effect = call
        if call.stores and call.act.verb not in PUBLISHES:
            self.changes.append(Change(self.n_effects, call, _changes_files(call), self._first_named(call)))
        self.n_effects += 1
        self.unused = []
        changes = call.act.verb in CHANGES
        changed = [name for name in call.names if name.argument or (call.commands and changes)]
        opened = [name.form for name in self._open_file(call)]
        if changes and not changed and not call.act.in_command:
            for form in opened or [-1 - call.span]:
                self.unpublished.pop(form, None)
                self.unpublished[form] = call
        self.written.update(dict.fromkeys(opened, (call, None)))
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
        program = program_of(call.command) if call.act.in_command else ""
        if program not in ("", call.act.verb):  # rm removes and keeps no state of its own
            self.programs[program] = call
        if call.act.verb in PUBLISHES and not _hands_in(call):
            self.unpublished, self.published = {}, call
        elif len(self.unpublished) > 2 * MOST_PUBLISHED:
            self.unpublished = dict(list(self.unpublished.items())[-MOST_PUBLISHED:])

    def _open_file(self, call: Call) -> list[Resource]:
        """Of a change that names nothing, the first file that its result shows and an earlier call had named."""
        unnamed = call.act.verb in CHANGES and not call.act.in_command and not any(name.argument for name in call.names)
        shown = self.texts.forms_of(call.result) if unnamed and call.is_effect and call.result is not None else ()
        return next((self.files[form] for form in shown if form in self.files), [])

    def _unnamed(self, call: Call, edges: EdgeList) -> None:
        """A change that names nothing rests on the last change of the file that is open, and on the last look at it."""
        for name in self._open_file(call):
            for known, rule in ((self.written, "file_after_write"), (self.looked, "write_after_look")):
                if name.form in known and name.form not in self.environment:
                    edges.add(known[name.form][0].span, call.span, rule, detail=repr(self.texts.text_at(name.token)))

    def _resources(self, call: Call, edges: EdgeList) -> None:
        for name in call.names:
            if name.form in self.environment:
                continue
            writer = self.written.get(name.form)
            if writer is not None and call.act.verb not in OVERWRITES:
                rule = "file_after_write" if name.file else "read_after_write"
                weight = None if name.file or self._shows(call, writer[0]) else CANDIDATE
                if writer[1] is not None:
                    edges.add(writer[0].span, call.span, rule, (name.token, writer[1].token), weight=weight)
                else:
                    edges.add(writer[0].span, call.span, rule, detail=repr(self.texts.text_at(name.token)))
            looker = self.looked.get(name.form)
            if looker is not None and call.is_effect:
                self._after_look(call, name, *looker, edges)
        reviews = call.act.in_command and call.act.verb in REVIEWS and not call.names
        if reviews or (call.act.verb in PUBLISHES and not _hands_in(call)):
            changed = dict.fromkeys(effect.span for effect in self.unpublished.values())
            if not changed and self.published is not None:
                changed = {self.published.span: None}  # a push after a commit
            for span in list(changed)[-MOST_PUBLISHED:]:
                weight = CANDIDATE if reviews and not self._lists(call, self.log.by_span[span]) else None
                edges.add(span, call.span, "review" if reviews else "publish", weight=weight)

    def _after_look(self, call: Call, name: Resource, look: Call, seen: Resource, edges: EdgeList) -> None:
        """An effect on what was looked at. A look at the agent's own work that finds nothing wrong changes nothing."""
        rule, weight = "write_after_read", None
        if name.whole and seen.whole:
            if name.file:
                rule = "write_after_look"
            elif self._is_own(look, seen, edges):
                if self._finds_fault(look):
                    rule = "objection"
                else:
                    weight = CANDIDATE
        elif look.result not in edges.into[call.span]:  # one of the two only mentions it, and nothing shown is used
            weight = CANDIDATE
        edges.add(look.span, call.span, rule, (name.token, seen.token), weight=weight)

    def _is_own(self, look: Call, seen: Resource, edges: EdgeList) -> bool:
        """Whether the agent made what a call looks at, or had changed it before."""
        writer = self.written.get(seen.form)
        if writer is not None and writer[0].turn < look.turn:
            return True
        for parent, reason in edges.into[look.span].items():
            maker = self.log.by_span.get(parent)
            if maker is not None and maker.is_effect and seen.token in reason.matches[::2]:
                return True
        return False

    def _finds_fault(self, look: Call) -> bool:
        return look.result is not None and finds_fault(self.log.trajectory.spans[look.result].text)

    def _shows(self, call: Call, effect: Call) -> bool:
        """Whether the result of a call shows what an effect said and the call did not say itself."""
        said = self.texts.telling_of(effect.span) - self.texts.telling_of(call.span)
        return call.result is not None and not said.isdisjoint(self.texts.telling_of(call.result))

    def _lists(self, call: Call, effect: Call) -> bool:
        """Whether the result of a call names what an effect changed; who published is not looked for in it."""
        shown = self.texts.telling_of(call.result) if call.result is not None else set[int]()
        return effect is self.published or any(name.form in shown for name in effect.names)

    def _takes_up(self, call: Call, look: Call) -> bool:
        """Whether a call uses what a look showed and the user did not say, or the look found fault."""
        if look.result is None:
            return False
        if self._finds_fault(look):
            return True
        asked = self.log.asked[call.round]
        told = self.texts.telling_of(call.span, True) & set(self.texts.forms_of(look.result))
        return not told <= (set(self.texts.forms_of(asked)) if asked is not None else set[int]())

    def _sessions(self, call: Call, edges: EdgeList) -> None:
        for (tool, verb), setter in self.setters.items():
            if setter.consumed or (call.tool, call.act.verb) == (tool, verb):
                continue
            if call.tool == tool or (call.act.does == "effect" and not setter.act.in_command):
                edges.add(setter.span, call.span, "session")

    def _last_effect(self, call: Call, edges: EdgeList) -> None:
        if call.act.does == "check" and self.last_effect is not None:
            edges.add(self._built(call, self.last_effect).span, call.span, "check")
        elif (
            call.act.verb in BUILDS
            and not call.names
            and len(call.command or call.said) < SHORT_COMMAND
            and self.last_effect is not None
        ):
            edges.add(self._built(call, self.last_effect).span, call.span, "build")
        asked = self.programs.get(program_of(call.command)) if call.command and not call.names else None
        if asked is not None and (call.act.verb in PUBLISHES or _names_no_more(call.command, asked.command)):
            edges.add(asked.span, call.span, "program")
        stores = call.act.verb in STORES or (call.act.basis == "acknowledgement" and call.names)
        if call.is_effect and stores and call.length < SHORT_WRITE:
            run = next((run for tool, run in reversed(self.runs.items()) if tool != call.tool), None)
            if run is not None:
                edges.add(run.span, call.span, "run_output")

    def _built(self, call: Call, effect: Call) -> Call:
        """What a check or build works on: the last effect, unless that is on files of another kind (suffix) than those
        that earlier command lines of the program named; then the last change of such a file, where there is one."""
        kinds, known = self._kinds_of(effect), self.kinds.get(program_of(call.command), set[str]())
        if kinds and kinds.isdisjoint(known):
            for change in reversed(self.changes[-MOST_SINCE:]):
                if not known.isdisjoint(self._kinds_of(change.call)):
                    return change.call
        return effect

    def _kinds_of(self, call: Call) -> set[str]:
        """Suffixes of the files that a call names."""
        return {_suffix(self.texts.text_at(name.token)) for name in call.names if name.file} - {""}

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
        first = max(since, self.n_effects - MOST_SINCE)
        found: list[Call] = []
        for change in reversed(self.changes):
            if change.number < first or len(found) == MOST_REPAIRS:
                break
            if change.known <= span and (change.files or not call.commands):
                found.append(change.call)
        return found[::-1]

    def _first_named(self, effect: Call) -> int:
        whole = [name.form for name in effect.names if name.whole]
        changed = whole or [name.form for name in effect.names if effect.commands]
        return min((self.named[form] for form in changed), default=-1)

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
