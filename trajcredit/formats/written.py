"""Tool calls that the model wrote as text, and their results, recognised where a log has no calls of its own.

| the text has | is |
| --- | --- |
| `<tool_call>{"name": ..., "arguments": ...}</tool_call>` | a call (Hermes, Qwen) |
| `<function=NAME><parameter=KEY>VALUE</parameter></function>` | a call (Qwen Coder, OpenHands, SWE-agent) |
| `Action: NAME`, then `Action Input: ...` | a call (ReAct) |
| special tokens: `[TOOL_CALLS]` (Mistral), `python_tag` (Llama 3), `tool_call_begin` (DeepSeek) | calls |
| JSON with a name and arguments, fenced or alone | a call, if the tool is declared or an observation follows |
| JSON with `commands` and their `keystrokes` (Terminus) | a call that types them, one after the other |
| `<tool_response>`, `Observation:`, `EXECUTION RESULT of [NAME]:`, `[TOOL_RESULTS]` in the next message | its result |
| anything else that a user says right after a call in tags | its result: there is nobody else to speak |

| note | says |
| --- | --- |
| `written-call` | calls were written as text: they are marked as inferred |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec.structs import replace

from trajcredit.formats.entries import Entry, Part
from trajcredit.formats.marked import (
    GIVEN,
    after_marks,
    bare_calls,
    call_from_json,
    has_marks,
    marked_calls,
    written_call,
)
from trajcredit.formats.parts import Arguments, arguments_of
from trajcredit.formats.typed import KEYSTROKES, typed_call

__all__ = ["SAID", "holds_written_calls", "with_written_calls"]

TAG, END_TAG = "<tool_call>", "</tool_call>"
FUNCTION, END_FUNCTION = "<function=", "</function"
PARAMETER, END_PARAMETER = "<parameter=", "</parameter>"
INPUT, FENCE = "Action Input:", "```"
ANSWER, END_ANSWER = "<tool_response>", "</tool_response>"
SAID = ("written-call", "calls were written as text: those found are marked as inferred")

_ACTION = re.compile(r"(?:^|\n)[ \t]*Action:[ \t]*([^\n]*)\n\s{0,9}$")
_NEXT = re.compile(r"\n[ \t]*(?:Observation|Thought|Action|Final Answer)[ \t]*:")
_OBSERVED = re.compile(r"\s{0,99}(?:observation:|execution result of \[([^\]\n]{1,200})\]:)\s?", re.IGNORECASE)
_NAME = re.compile(r'"name"\s{0,9}:\s{0,9}"([^"\\\n]{1,200})"')
_FENCED = re.compile("|".join(f'"{key}"' for key in GIVEN))


def holds_written_calls(texts: Collection[str]) -> bool:
    """Whether any of an assistant's texts may hold a call; cheap."""
    for text in texts:
        # one letter is found sooner than a word, and most texts have none of these
        if ("<" in text and (TAG in text or FUNCTION in text)) or INPUT in text or has_marks(text):
            return True
        if '"' in text and (KEYSTROKES in text or _may_be_fenced(text)):
            return True
    return False


def _may_be_fenced(text: str) -> bool:
    """Whether it is, or holds in a fence, an object with the arguments of a call."""
    return (FENCE in text or text.lstrip()[:1] == "{") and _FENCED.search(text) is not None


def with_written_calls(entries: Sequence[Entry], tools: Collection[str] = ()) -> list[Entry]:
    """The entries with written calls as calls and what answers them as results; as they are where a log has calls."""
    if any(part.kind == "tool_call" for entry in entries for part in entry.parts):
        return list(entries)
    found: list[Entry] = []
    open_calls: list[Part] = []
    noted = False
    for place, entry in enumerate(entries):
        if entry.acts:
            observed = place + 1 < len(entries) and _is_observation(entries[place + 1])
            parts = _acted(entry.parts, tools, observed)
            open_calls = [part for part in parts if part.kind == "tool_call"]
            note = SAID if open_calls and not noted else entry.note
            noted = noted or bool(open_calls)
            found.append(replace(entry, parts=parts, note=note))
        elif open_calls and all(part.kind in ("user", "tool_result") for part in entry.parts):
            found.append(replace(entry, parts=[answer for part in entry.parts for answer in _answers(part)]))
            open_calls = []
        else:
            found.append(entry)
    return found


# ---------------------------------------------------------------- calls


def _acted(parts: Sequence[Part], tools: Collection[str], observed: bool) -> list[Part]:
    found: list[Part] = []
    for part in parts:
        if part.kind == "assistant":
            found += [piece for piece in _pieces(part, tools, observed) if piece.kind != "assistant" or piece.text]
        else:
            found.append(part)
    return found


def _pieces(part: Part, tools: Collection[str], observed: bool) -> Iterator[Part]:
    """Text and calls of one text, in order."""
    text = part.text
    if TAG in text:
        ways: Callable[[str], Iterator[Part | str]] = _tagged
    elif FUNCTION in text:
        ways = _functions
    elif INPUT in text:
        ways = _react
    elif has_marks(text):
        yield from _said(part, marked_calls(text, observed))
        return
    elif (typed := typed_call(text)) is not None:
        yield from typed
        return
    elif text.lstrip()[:1] == "{" and _are_known(calls := bare_calls(text), tools, observed):
        yield from calls
        return
    elif FENCE in text:
        yield from _said(part, _fenced(text, tools, observed))
        return
    else:
        yield part
        return
    yield from _said(part, ways(text))


def _said(part: Part, pieces: Iterator[Part | str]) -> Iterator[Part]:
    opaque = part.opaque
    for piece in pieces:
        if isinstance(piece, Part):
            yield piece
        elif piece.strip():
            yield Part("assistant", piece.strip(), opaque=opaque)
            opaque = None


def _are_known(calls: Sequence[Part], tools: Collection[str], observed: bool) -> bool:
    """Whether JSON that looks like calls is meant so: all tools are declared, or none is and an observation follows."""
    return bool(calls) and all(call.name in tools or (observed and not tools) for call in calls)


def _tagged(text: str) -> Iterator[Part | str]:
    before, *rest = text.split(TAG)
    yield before
    for piece in rest:
        inner, _, after = piece.partition(END_TAG)
        if FUNCTION in inner:
            yield from _functions(inner)
        else:
            yield call_from_json(inner.strip()) or written_call(_name_in(inner), arguments_of(inner.strip()))
        yield after


def _name_in(text: str) -> str | None:
    found = _NAME.search(text)
    return found[1] if found else None


def _functions(text: str) -> Iterator[Part | str]:
    before, *rest = text.split(FUNCTION)
    yield before
    for piece in rest:
        name, closed, inner = piece.partition(">")
        if not closed or "\n" in name or len(name) > 200:
            yield FUNCTION + piece
            continue
        inner, _, after = inner.partition(END_FUNCTION)
        yield written_call(name.strip().strip('"'), _parameters(inner))
        yield after.removeprefix(">")


def _parameters(text: str) -> Arguments:
    """`<parameter=KEY>VALUE</parameter>` as an object of texts; JSON where that stands in their place."""
    _, *pieces = text.split(PARAMETER)
    if not pieces:
        return arguments_of(text.strip())
    values: dict[str, str] = {}
    for piece in pieces:
        key, _, value = piece.partition(">")
        value = value.partition(END_PARAMETER)[0]
        values[key.strip().strip('"')] = value.removeprefix("\n").removesuffix("\n")
    return Arguments(values, text.strip())


def _react(text: str) -> Iterator[Part | str]:
    before, *rest = text.split(INPUT)
    for piece in rest:
        action = _ACTION.search(before, max(0, len(before) - 300))
        if action is None:
            before += INPUT + piece
            continue
        yield before[: action.start()]
        end = _NEXT.search(piece)
        given = (piece[: end.start()] if end else piece).strip()
        given = given.strip("`").removeprefix("json").strip() if given.startswith(FENCE) else given
        plain = Arguments({"input": given}, given)
        arguments = arguments_of(given) if given[:1] in ("{", "[", "") else plain
        yield written_call(action[1].strip().strip("`[]"), arguments)
        before = piece[end.start() :] if end else ""
    yield before


def _fenced(text: str, tools: Collection[str], observed: bool) -> Iterator[Part | str]:
    kept: list[str] = []
    for place, piece in enumerate(text.split(FENCE)):
        language, newline, inner = piece.partition("\n")
        body = inner if newline and not language.strip().startswith("{") else piece
        call = call_from_json(body.strip()) if place % 2 else None
        if call is not None and _are_known([call], tools, observed):
            yield FENCE.join(kept)
            yield call
            kept = []
        else:
            kept.append(piece)
    yield FENCE.join(kept)


# ---------------------------------------------------------------- results


def _is_observation(entry: Entry) -> bool:
    return not entry.acts and any(
        part.kind == "tool_result" or ANSWER in part.text or _OBSERVED.match(part.text) or after_marks(part.text)
        for part in entry.parts
    )


def _answers(part: Part) -> Iterator[Part]:
    """The results in what was said after a call; what stands beside tags is the user's."""
    if ANSWER in part.text:
        before, *rest = part.text.split(ANSWER)
        beside = [before]
        for piece in rest:
            inner, _, after = piece.partition(END_ANSWER)
            yield replace(part, kind="tool_result", text=inner.strip(), opaque=None)
            beside.append(after)
        words = "\n".join(text.strip() for text in beside if text.strip())
        if words:
            yield Part("user", words)
        return
    if (outputs := after_marks(part.text)) is not None:
        yield from (replace(part, kind="tool_result", text=output, opaque=None) for output in outputs)
        return
    observed = _OBSERVED.match(part.text)
    text = part.text[observed.end() :] if observed else part.text
    name = observed[1] if observed and observed[1] else part.name
    yield replace(part, kind="tool_result", text=text, name=name)
