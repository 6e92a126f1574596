"""Control edges: retries, bad findings that are acted on, effects a message reports, the request an answer is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from trajcredit.graph.calls import Call, CallLog
from trajcredit.graph.edges import EdgeList
from trajcredit.graph.effects import FINISHES, RUNS, THINKS
from trajcredit.graph.evidence import CLAIM, RULE_CODES
from trajcredit.graph.failures import finds_fault
from trajcredit.model import ACTION_KINDS, Span

__all__ = ["context_edges", "control_edges", "turn_edges"]

ALIKE = 0.3
"""Share of its values that a retry has in common with what failed."""
PLACES = frozenset(RULE_CODES[name] for name in ("folder", "listed", "in_folder"))
"""Rules that tell where a call looks, and not why."""
MUCH = 0.5
"""The same share of a look that goes on where another left off."""
MOST_THOUGHTS = 4
"""Reasoning blocks of one turn that lead to every later span of it."""
MOST_CLOSING = 16
"""Effects that one message is looked at for: the latest that are not its ancestors already."""
MOST_BEFORE = 256
"""Effects before a message among which those are: the latest."""
ALL_BEFORE = (1 << MOST_BEFORE) - 1
_FOUND_NOTHING = re.compile(
    r"""\W*(?:no|0)\ (?:matche?s?|files?|results?|items?|records?|entries|rows|hits)
    (?:\ (?:were|was))?(?:\ found)?\b.{0,100}|\W*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)


def turn_edges(log: CallLog, edges: EdgeList) -> None:
    """Reasoning to the rest of its own turn; an assistant question to the user turn that answers it.

    Of many reasoning blocks in one turn only the latest lead on directly, the others through them.
    """
    spans = log.trajectory.spans
    thoughts: list[int] = []
    for i, span in enumerate(spans):
        if thoughts and spans[thoughts[0]].turn != span.turn:
            thoughts = []
        if span.kind in ("assistant", "tool_call"):
            for thought in thoughts:
                edges.add(thought, i, "reasoning")
        elif span.kind == "reasoning":
            if len(thoughts) == MOST_THOUGHTS:
                edges.add(thoughts.pop(0), i, "reasoning")
            thoughts.append(i)
    for user, question in log.asks.items():
        edges.add(question, user, "reply")


def control_edges(log: CallLog, edges: EdgeList, forms_of: Callable[[int], Iterable[int]]) -> None:
    """Retries and findings call by call, then closing edges message by message; `forms_of`: values in a span."""
    failures: dict[str, Call] = {}
    finding: Call | None = None
    for call in log.calls:
        failure = failures.get(call.tool)
        if failure is not None and _told_before(failure, call):
            if _alike(failure, call, forms_of):
                edges.add(failure.result or failure.span, call.span, "retry")
            del failures[call.tool]
        if call.is_effect and finding is not None and _told_before(finding, call):
            edges.add(finding.result or finding.span, call.span, "finding")
            finding = None
        if call.failed:
            failures[call.tool] = call
        if call.act.does == "check" and call.result is not None:
            text = log.trajectory.spans[call.result].text
            finding = call if call.failed or finds_fault(text) else None
    _closing(log, edges, forms_of)
    _request(log.trajectory.spans, edges)


def _told_before(earlier: Call, call: Call) -> bool:
    """Whether the result of a call was there when another was made, in a later turn."""
    return earlier.turn < call.turn and earlier.result is not None and earlier.result < call.span


def _alike(failure: Call, call: Call, forms_of: Callable[[int], Iterable[int]]) -> bool:
    if {name.form for name in failure.names} & {name.form for name in call.names}:
        return True
    act = failure.act
    if act.in_command and act.does == "effect" and act.verb == call.act.verb and act.verb not in RUNS:
        return True  # git push, then git push --set-upstream
    if call.commands and failure.names and call.names:
        return False  # two command lines share words, these two are about different files
    before, now = set(forms_of(failure.span)), set(forms_of(call.span))
    return len(before & now) >= ALIKE * max(1, len(before | now))


def _closing(log: CallLog, edges: EdgeList, forms_of: Callable[[int], Iterable[int]]) -> None:
    """A message depends on the effects it reports: latest first, each unless it is an ancestor of the message already.

    Ancestors are kept as bit sets, and over the latest effects alone, so that a span costs the same in any log: bit k
    of `reached[i]` is effect number done[i] - 1 - k, the k-th before span i.
    """
    spans = log.trajectory.spans
    effects = [call for call in log.calls if call.is_effect]
    if not effects:
        return
    since = effects[0].span + 1
    messages = [i for i in range(since, len(spans)) if spans[i].kind == "assistant" and not _goes_on(spans, i)]
    messages += [call.span for call in log.calls[-1:] if call.span >= since and _finishes(log, call.span)]
    if not messages:
        return
    reports, number = set(messages), {call.span: k for k, call in enumerate(effects)}
    reached = [0] * since
    done = [0] * since
    so_far = 1
    for i in range(since, messages[-1] + 1):
        known = 0
        for parent, reason in edges.into[i].items():
            if reason.weight >= CLAIM:
                known |= _seen_from(so_far, parent, number, reached, done)
        if i in reports:
            for k in _latest(min(so_far, MOST_BEFORE), known):
                effect = effects[so_far - 1 - k]
                new = effect.turn < spans[i].turn and not known >> k & 1
                if new and _reports(log, i, effect, forms_of):
                    edges.add(effect.span, i, "closing")
                    known |= _seen_from(so_far, effect.span, number, reached, done)
        reached.append(known)
        done.append(so_far)
        so_far += i in number


def _seen_from(so_far: int, parent: int, number: Mapping[int, int], reached: list[int], done: list[int]) -> int:
    """Bits of a parent and its ancestors among the latest of `so_far` effects."""
    since = so_far - done[parent]
    if since > MOST_BEFORE:
        return 0
    known = reached[parent] << since
    if parent in number:
        known |= 1 << so_far - 1 - number[parent]
    return known & ALL_BEFORE


def _latest(n: int, known: int) -> Iterator[int]:
    """The first bits below n that are not set, at most MOST_CLOSING."""
    free = (1 << n) - 1 & ~known
    for _ in range(MOST_CLOSING):
        if not free:
            return
        lowest = free & -free
        yield lowest.bit_length() - 1
        free ^= lowest


def _finishes(log: CallLog, i: int) -> bool:
    """Whether a span is the last action, a call that says the work is done: finish(message=...)."""
    call = log.by_span.get(i)
    last = log.calls[-1].span == i and not any(s.kind == "assistant" for s in log.trajectory.spans[i:])
    return call is not None and call.span == i and call.act.verb in FINISHES and last


def _goes_on(spans: list[Span], i: int) -> bool:
    """Whether the text is a preamble: the same turn calls a tool after it."""
    return any(s.kind == "tool_call" for s in spans[i + 1 : i + 40] if s.turn == spans[i].turn)


def _reports(log: CallLog, message: int, effect: Call, forms_of: Callable[[int], Iterable[int]]) -> bool:
    """With one user turn every effect is reported; with several, those of this turn that the message names."""
    if log.rounds[-1] <= 1:
        return True
    if effect.round != log.rounds[message]:
        return False
    text = log.trajectory.spans[message].text.lower()
    if any(stem in text for stem in _stems(effect.tool)):
        return True
    return bool(set(forms_of(effect.span)) & set(forms_of(message)))


def _stems(tool: str) -> list[str]:
    """The nouns of a tool's name, cut to the stem that its inflections share."""
    return [word[: max(4, len(word) - 2)] for word in re.findall(r"[a-z]+", tool.lower()) if len(word) >= 4]


def _request(spans: list[Span], edges: EdgeList) -> None:
    """The last user message to the final answer."""
    answer = next((i for i in range(len(spans) - 1, -1, -1) if spans[i].kind in ACTION_KINDS), None)
    if answer is None or spans[answer].kind != "assistant":
        return
    asked = next((i for i in range(answer - 1, -1, -1) if spans[i].kind == "user"), None)
    if asked is not None:
        edges.add(asked, answer, "request")


def context_edges(log: CallLog, edges: EdgeList, forms_of: Callable[[int], Iterable[int]]) -> None:
    """From a failure to the actions of the next turn (through its reasoning, where there is any); and a light edge from
    the last observation to every action that nothing else explains."""
    seen = last = -1
    turn = -2
    for i, span in enumerate(log.trajectory.spans):
        if span.turn != turn:
            seen, turn = last, span.turn
        if span.kind in ACTION_KINDS:
            answered = log.by_span.get(seen)
            if answered is not None and answered.failed:
                if not any(reason.rule == RULE_CODES["reasoning"] for reason in edges.into[i].values()):
                    edges.add(seen, i, "reaction")
            elif seen >= 0 and all(reason.rule in PLACES for reason in edges.into[i].values()):
                rule = _fallback(log, answered, seen, i, forms_of)
                if rule != "context" or not edges.into[i]:
                    edges.add(seen, i, rule)
        elif span.kind in ("user", "tool_result"):
            last = i


def _fallback(log: CallLog, look: Call | None, seen: int, i: int, forms_of: Callable[[int], Iterable[int]]) -> str:
    """Why an action may follow the last observation, a result of `look` or a user turn; nothing else tells."""
    call = log.by_span.get(i)
    if call is not None and call.act.verb in THINKS:
        return "thought"
    if look is None or look.act.does != "read" or look.act.verb in THINKS:
        return "context"
    if _FOUND_NOTHING.fullmatch(log.trajectory.spans[seen].text[:200]):
        return "in_vain"
    return "refines" if call is not None and _refines(look, call, forms_of) else "context"


def _refines(look: Call, call: Call, forms_of: Callable[[int], Iterable[int]]) -> bool:
    """Whether a command line asks most of what the one before asked, and something else."""
    if call.tool != look.tool or call.act.does != "read" or not call.commands:
        return False
    before, now = set(forms_of(look.span)), set(forms_of(call.span))
    return before != now and len(before & now) >= MUCH * len(before | now)
