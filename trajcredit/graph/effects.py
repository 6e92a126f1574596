"""What a call does to the world: reads it, changes it, or sets up the session later calls run in.

The declaration decides, then the project's settings, then the verb of the tool's name, of its description, of the
command it is given, and last a short acknowledgement in place of an answer. Which of them decided is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from trajcredit.model import Tool

__all__ = [
    "BUILDS",
    "CHANGES",
    "FINISHES",
    "INSTALLS",
    "OVERWRITES",
    "PUBLISHES",
    "REVIEWS",
    "RUNS",
    "STORES",
    "THINKS",
    "Act",
    "acknowledges",
    "act_of",
    "act_of_function",
    "confirms",
    "first_word",
    "of_session",
    "program_of",
    "reports_tests",
]

EFFECTS = frozenset(
    """abort accept ack acknowledge add alter annotate append apply approve archive assign attach authorize ban block
    book buy cancel change charge checkout chmod chown claim clear clone close comment commit complete confirm copy cp
    create deactivate decline delete deploy deposit destroy disable dismiss dispatch drain drop edit email enable
    enqueue enroll escalate exchange expire file fill fix flag forward freeze grant hold import increment init initiate
    insert install invite issue kill label lock mail make mark merge migrate mkdir modify move mv notify order
    overwrite page patch pause pay pin place post promote publish purchase push put rebook record redeem refund
    register reject release remove rename reopen replace reply reschedule reserve reset resolve restart restore resume
    retry return revert revoke rm rollback save scale schedule sell send share ship sign stash stop store strike submit
    subscribe suspend swap tag terminate ticket toggle touch transfer trigger truncate undo uninstall unlink unlock
    unsubscribe untag update upgrade upload upsert void withdraw write""".split()
)
READS = frozenset(
    """analyse analyze ask assess awk browse calc calculate calculator cat classify compare compute convert count
    cursor describe detect df diff display dir download du echo estimate evaluate examine explain explore export extract
    fetch filter find finish forecast get glob goto grep head help history identify info inspect introspect inventory
    list locate logs lookup look ls map match measure monitor navigate open parse peek ping plan predict preview
    print profile ps pwd query quote rank read recall recommend render report research resolve-path respond retrieve
    review rg scan scroll search see show sort stat stats status summarise summarize tail think top trace track
    translate tree view wait watch wc weather where which whoami""".split()
)
SETTERS = frozenset("set use switch begin login logon connect activate".split())
SESSION_OPENERS = frozenset("open start load select enter join choose".split())
SESSION_NOUNS = frozenset(
    """session profile workspace context environment env account database project cluster namespace branch mode user
    tenant region connection""".split()
)
SESSION_WORDS = SESSION_NOUNS | frozenset(
    "sessions active current default defaults preference preferences settings subsequent later following".split()
)
"""Words of the description of a tool that shapes later calls."""
OUTPUTS = frozenset("output outputs result results log logs status".split())
"""BashOutput shows what a command said."""
CHECKS = frozenset("check test tests pytest unittest vitest jest mocha rspec ctest tox verify validate lint".split())
RUNS = frozenset("run exec execute eval python python3 node bash sh".split())
OVERWRITES = frozenset("write create save put run".split())
STORES = frozenset("write create save put store export upload".split())
CHANGES = frozenset(
    """append chmod chown copy cp create edit insert mkdir mv move overwrite patch put remove rename replace restore rm
    save tee touch truncate undo unlink update write""".split()
)
"""Of a command line that names a file these change the file; a run of it, or a commit, does not."""
INSTALLS = frozenset("install uninstall upgrade".split())
PUBLISHES = frozenset("commit submit push publish deploy".split())
REVIEWS = frozenset("diff status".split())
"""A command line of these that names nothing shows what has changed."""
THINKS = frozenset("think reflect".split())
"""A call of these only says what the agent thinks of what came last."""
FINISHES = frozenset("finish done complete end".split())
"""A last call of these says that the work is done, as a final message does."""
NOUNS_TOO = frozenset("archive email file label mail order page record report tag ticket comment import log".split())
LOOKUPS = frozenset("search lookup query fetch get list read view find".split())
"""archive_search looks up: a last word of these wins over a first word that is a noun as well."""
BUILDS = frozenset(
    "build compile make cmake ninja lint format npm yarn pnpm cargo gradle mvn dotnet mix rake tsc ruff mypy".split()
)
GENERIC = frozenset(
    """a an the this that to your our its any some one it you can run runs exec execute executes call calls invoke
    invokes perform performs do does make use uses used tool function command commands shell bash""".split()
)
"""Words of a description that say nothing about what is done."""

SHELLS = frozenset("run exec execute bash sh shell command commands cmd terminal console".split())
_REDIRECTS = re.compile(r"(?:^|&&|;)\s*(?:cat|echo|printf)\b[^|;&\n]*?(?<![0-9&>])>{1,2}\s*(?!&|/dev/)[\w./~$\"'-]")
_IN_PLACE = re.compile(r"(?:^|&&|;)\s*(?:sed|perl)\s+(?:-\w+\s+)*-\w*i")

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ACKNOWLEDGES = re.compile(
    r"""^\W*(?:ok|okay|done|success(?:fully)?|saved|sent|created|updated|deleted|removed|written|applied|accepted
    |confirmed|cancelled|canceled|booked|shipped|paid|queued|scheduled|submitted|registered|added|set|stored|changed
    |acknowledged|complete[d]?)\b
    |["'](?:ok|success|succeeded|written|created|updated|deleted|sent|saved|done|applied|accepted|active|confirmed)["']
    \s*:\s*(?:true|1\b)
    |["'](?:status|state)["']\s*:\s*["'](?:ok|success|done|created|updated|deleted|sent|saved|captured|applied|accepted
    |confirmed|cancelled|canceled|queued|scheduled|submitted|complete[d]?)["']
    |\b(?:rolled\ back|restarted|created|updated|deleted|saved|written|submitted|sent)\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
_NAMES = re.compile(r"\w+(?:[-./:_]\w+)+|\w*\d\w*")
"""Words with a joiner or a digit."""
_SAYS_TRUE = re.compile(r"""\s*\{(?:[^{}\[\]]*,)?\s*["'][^"']{1,40}["']\s*:\s*(?i:true)\s*[,}]""")
"""A flat object with a value that is true, whatever it is called."""
_TEST_REPORT = re.compile(
    r"\b\d+ (?:tests? |checks? |specs? |examples? )?(?:passed|passing|failed|failing|failures?)\b"
    r"|\b(?:all|no) (?:tests?|checks?) (?:passed|failed)\b|^(?:PASS|FAIL|ok|FAILED)\b.*\b\d*\.?\d+ ?m?s\b",
    re.MULTILINE,
)
SHORT = 120
"""Characters an acknowledgement may have."""


@dataclass(frozen=True, slots=True)
class Act:
    """What one call does: `read`, `check`, `effect` or `setter`; the verb that says so; what told (`write_basis`)."""

    does: str
    verb: str
    basis: str
    in_command: bool = False


def act_of(name: str, tool: Tool | None, command: str, writes: Mapping[str, bool]) -> Act | None:
    """What a call of this tool with this command line does; None when only the reply can tell."""
    word = first_word(name)
    if tool is not None and tool.writes is not None:
        return Act(_declared(tool.writes, name), word, "declared")
    if name in writes:
        return Act(_declared(writes[name], name), word, "settings")
    return _by_words(name, (tool.description or "") if tool is not None else "", command[:160])


@lru_cache(maxsize=4096)
def act_of_function(name: str) -> Act | None:
    """What code does that is one call of a function of this name: open_file(...); None where the name does not tell."""
    words = tuple(w.lower() for w in _WORDS.findall(name))
    does = _class_of(words)
    return None if does is None else Act(does, words[0], "code")


@lru_cache(maxsize=4096)
def of_session(description: str) -> bool:
    """Whether a description speaks of what later calls run in: a session, defaults, what is active."""
    return any(word.lower() in SESSION_WORDS for word in _WORDS.findall(description[:200]))


def reports_tests(reply: str) -> bool:
    """Whether a reply counts what passed and what failed."""
    return _TEST_REPORT.search(reply[:2000]) is not None or _TEST_REPORT.search(reply[-2000:]) is not None


def acknowledges(reply: str) -> bool:
    """Whether a reply is a short acknowledgement and no answer: in words, or something that is now true."""
    return len(reply) <= SHORT and (_ACKNOWLEDGES.search(reply) is not None or _SAYS_TRUE.match(reply) is not None)


def confirms(said: str, reply: str) -> bool:
    """Whether a reply is one short line that names what the call named and nothing else: it says that it was done."""
    if len(reply) > SHORT or "\n" in reply.strip():
        return False
    names = _NAMES.findall(reply)
    return bool(names) and all(name.rsplit("/", 1)[-1] in said for name in names)


@lru_cache(maxsize=4096)
def first_word(name: str) -> str:
    """The first word of a tool name in lower case, "re" before a known verb taken off (rebook is book)."""
    words = [w.lower() for w in _WORDS.findall(name)]
    return words[0] if words else ""


def _declared(writes: bool, name: str) -> str:
    if not writes:
        return "read"
    return "setter" if _class_of(tuple(w.lower() for w in _WORDS.findall(name))) == "setter" else "effect"


@lru_cache(maxsize=65536)
def _by_words(name: str, description: str, command: str) -> Act | None:
    words = tuple(w.lower() for w in _WORDS.findall(name))
    does = None if command and _runs_anything(words) else _class_of(words)
    if does is not None:
        return Act(does, words[0], "verb")
    described = _telling(description)
    does = None if len(described) == 1 and described[0] in NOUNS_TOO else _class_of(described)
    if does is not None:
        return Act(does, described[0], "description")
    command_words = _command_words(command)
    plain = _plainly(command)
    if plain is not None:
        return Act("effect", plain, "command", True)
    for k, word in enumerate(command_words):
        told = next((w for w in command_words[k + 1 :] if w not in RUNS), "") if word in BUILDS else ""
        if told in CHECKS or told in INSTALLS:
            return Act("check" if told in CHECKS else "effect", told, "command", True)
        runs = word in BUILDS or (
            word in RUNS and len(command_words) == 1
        )  # its name does not tell what a program does
        does = _class_of(command_words[k:]) or ("read" if runs else None)
        if does is not None:
            return Act(does, word, "command", True)
    return None


def _runs_anything(words: tuple[str, ...]) -> bool:
    """Whether a tool is named after running commands alone: execute_bash, run_command."""
    return bool(words) and all(word in SHELLS for word in words)


def _plainly(command: str) -> str | None:
    """What a command line does whatever it starts with: write or edit a file, publish (git add; git commit)."""
    if _REDIRECTS.search(command):
        return "write"
    if _IN_PLACE.search(command):
        return "edit"
    for part in re.split(r"&&|\|\||[;|\n]", command):
        words = [word for word in part.split()[:2] if word.isalpha()]
        found = next((word for word in words if word in PUBLISHES), None)
        if found is not None:
            return found
    return None


def _telling(description: str) -> tuple[str, ...]:
    """The first words of a description from the first that says what is done: of "Use this to run tests", tests."""
    words = [w.lower() for w in _WORDS.findall(description[:200])[:10]]
    while words and words[0] in GENERIC:
        del words[0]
    return tuple(words[:6])


def _class_of(words: tuple[str, ...]) -> str | None:
    """Class of a phrase by its first word, which may need a noun that follows it."""
    if not words:
        return None
    verb, rest = words[0], words[1:]
    if verb in NOUNS_TOO and rest and rest[-1] in LOOKUPS:
        return "read"
    if verb not in EFFECTS and verb not in READS and verb.startswith("re") and len(verb) > 4:
        verb = verb[2:]
    if verb in SETTERS:
        return "setter"
    if verb in SESSION_OPENERS and any(noun in SESSION_NOUNS for noun in rest):
        return "setter"
    if verb in RUNS and rest and rest[-1] not in OUTPUTS:
        return "check" if rest[0] in CHECKS else "effect"
    if verb in EFFECTS:
        return "effect"
    if verb in CHECKS:
        return "check"
    return "read" if verb in READS else None


def program_of(command: str) -> str:
    """The program that a command line runs first; "" where its first word is none."""
    words = _line(command[:160]).split(None, 1)
    return words[0] if words and words[0].isalpha() else ""


def _line(command: str) -> str:
    """The first line of a command after any "cd X &&"."""
    line = command.split("\n", 1)[0]
    return line.split("&&", 1)[1] if line.startswith("cd ") and "&&" in line else line


def _command_words(command: str) -> tuple[str, ...]:
    """The first words of a command line that can be verbs: after any "cd X &&", before any pipe, no options, paths or
    values."""
    words: list[str] = []
    for part in _line(command).split(" | ", 1)[0].split()[:6]:
        if part.startswith("-") or "/" in part or "=" in part:
            continue
        most = 2 if not words and re.fullmatch(r"[A-Za-z]+_[A-Za-z]+", part) else 1  # str_replace is a replace
        words.extend(w.lower() for w in _WORDS.findall(part)[:most])
    return tuple(words[:4])
