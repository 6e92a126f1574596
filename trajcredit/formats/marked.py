"""Tool calls that a model wrote between the special tokens of its own family, as servers parse them.

| the text has | is |
| --- | --- |
| `[TOOL_CALLS] [{"name": ..., "arguments": ...}]`, or `[TOOL_CALLS]NAME{...}`, with `[ARGS]`, `[CALL_ID]` | calls |
| the token `python_tag`, then `{"name": ..., "parameters": ...}`, several set apart by `;` | calls |
| `python_tag`, then `NAME.call(a=1)` | a call |
| `python_tag` before anything else | code: a call of `python`, if an observation follows |
| `tool_call_begin`, NAME, `tool_sep`, arguments; the bars and lines of these tokens wide or plain | a call |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from trajcredit.formats.entries import Part
from trajcredit.formats.parts import Arguments, arguments_of
from trajcredit.formats.pythonic import calls_in_python

__all__ = [
    "GIVEN",
    "after_marks",
    "bare_calls",
    "call_from_json",
    "end_of_json",
    "has_marks",
    "marked_calls",
    "written_call",
]

NAMES = ("name", "tool", "tool_name", "action", "function")
GIVEN = ("arguments", "args", "parameters", "action_input", "input", "tool_input")
LIST, PYTHON, RESULTS = "[TOOL_CALLS]", "<|python_tag|>", "[TOOL_RESULTS]"
CODE = "python"
"""Whom code is given to: the token before it says that it is run, no name does."""

_BAR, _LINE = "[|\uff5c]", "[_\u2581]"
_BEGUN = re.compile(f"<{_BAR}tool{_LINE}calls{_LINE}begin{_BAR}>")
_CALL = re.compile(f"<{_BAR}tool{_LINE}call{_LINE}begin{_BAR}>")
_SEP = re.compile(f"<{_BAR}tool{_LINE}sep{_BAR}>")
_END = re.compile(f"<{_BAR}tool{_LINE}calls?{_LINE}end{_BAR}>")
_OUTPUT = re.compile(f"<{_BAR}tool{_LINE}output{_LINE}begin{_BAR}>|{re.escape(RESULTS)}")
_OUTPUT_END = re.compile(f"<{_BAR}tool{_LINE}outputs?{_LINE}(?:end|begin){_BAR}>|\\[/TOOL_RESULTS\\]")
LAST = ("<|eom_id|>", "<|eot_id|>", "</s>", "<\uff5cend\u2581of\u2581sentence\uff5c>")
"""Tokens at the end of an answer."""
_NAMED = re.compile(r"\s*([\w.:/-]{1,200})\s*(?:\[CALL_ID\]\s*(\w{1,64})\s*)?(?:\[ARGS\]\s*)?(?=\{)")
_ASKED = re.compile(r"[\w.]{1,200}\.call\(")
_NAME = re.compile(r'"name"\s{0,9}:\s{0,9}"([^"\\\n]{1,200})"')
_FENCED = re.compile(r"\s*```(?:json)?\n(.*?)\n?```\s*$", re.DOTALL)
_object = msgspec.json.Decoder(dict[str, object]).decode
_list = msgspec.json.Decoder(list[object]).decode
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[][{}]', re.DOTALL)


def has_marks(text: str) -> bool:
    """Whether a text has a token that begins calls; cheap."""
    if "<" in text and (PYTHON in text or ("tool" in text and _CALL.search(text) is not None)):
        return True
    return "[" in text and LIST in text


def marked_calls(text: str, observed: bool) -> Iterator[Part | str]:
    """Text and calls of one text, in order; where no call follows a token it stays text.

    `observed`: an observation follows, so that code was run, not only spoken of.
    """
    found = list(_listed(text) if LIST in text else _tagged(text, observed) if PYTHON in text else _begun(text))
    return iter(found) if any(isinstance(piece, Part) for piece in found) else iter([text])


def written_call(name: str | None, arguments: Arguments, call_id: str | None = None) -> Part:
    """A call that was written as text."""
    return Part("tool_call", name=name, arguments=arguments, call_id=call_id, inferred=True)


def call_from_json(text: str) -> Part | None:
    """The call that a JSON object is; null where it is none."""
    try:
        return _call_of(_object(text))
    except (msgspec.DecodeError, RecursionError):
        return None


def _call_of(value: object) -> Part | None:
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in NAMES if isinstance(value.get(key), str)), None)
    given = next((value[key] for key in GIVEN if key in value), None)
    if name is None or not isinstance(given, dict | list | str | None):
        return None
    return written_call(str(name), arguments_of(given))


def _listed(text: str) -> Iterator[Part | str]:
    before, *pieces = text.split(LIST)
    yield before
    for piece in pieces:
        end = end_of_json(piece, 0) if piece.lstrip().startswith(("[", "{")) else None
        calls = _calls_in(piece[:end].strip()) if end is not None else []
        if calls:
            yield from calls
            yield _without_last(piece[end:])
        elif piece.lstrip()[:1] in ("[", "{") and (cut := _NAME.search(piece)):
            yield written_call(cut[1], arguments_of(piece.strip()))
        elif named := _NAMED.match(piece):
            end = end_of_json(piece, named.end()) or len(piece)
            yield written_call(named[1], arguments_of(piece[named.end() : end].strip()), named[2])
            yield _without_last(piece[end:])
        else:
            yield LIST + piece


def _calls_in(text: str) -> list[Part]:
    """The calls of a JSON list of them, or of one; none where any is no call."""
    try:
        found = [_call_of(value) for value in (_list(text) if text.startswith("[") else [_object(text)])]
    except (msgspec.DecodeError, RecursionError):
        return []
    return [call for call in found if call is not None] if None not in found else []


def _tagged(text: str, observed: bool) -> Iterator[Part | str]:
    before, _, rest = text.partition(PYTHON)
    rest = _without_last(rest.replace(PYTHON, "")).strip()
    calls = bare_calls(rest)
    if not calls and rest.startswith("{") and (cut := _NAME.search(rest)):
        calls = [written_call(cut[1], arguments_of(rest))]
    elif not calls and rest:
        calls = calls_in_python(rest) if _ASKED.match(rest) else []
        calls = calls or ([written_call(CODE, Arguments({"code": rest}, rest))] if observed else [])
    yield before
    yield from calls


def bare_calls(text: str) -> list[Part]:
    """The calls that a text consists of, JSON objects set apart by `;` at most; none where there is anything else."""
    at, calls = 0, list[Part]()
    text = _without_last(text)
    while (start := _next_object(text, at)) is not None:
        end = end_of_json(text, start)
        call = call_from_json(text[start:end]) if end is not None else None
        if call is None or end is None:
            return []
        calls.append(call)
        at = end
    return calls if not text[at:].strip("; \n") else []


def _next_object(text: str, at: int) -> int | None:
    """Where an object starts, with nothing but `;` before it."""
    start = text.find("{", at)
    return start if start >= 0 and not text[at:start].strip("; \n") else None


def _begun(text: str) -> Iterator[Part | str]:
    before, *pieces = _CALL.split(text)
    yield _BEGUN.sub("", before)
    for token, piece in zip(_CALL.findall(text), pieces, strict=True):
        inner, *after = _END.split(piece, maxsplit=1)
        kind, *rest = _SEP.split(inner, maxsplit=1)
        if not rest:
            yield token + piece  # spoken of, or cut off before it says anything
            continue
        name, given = kind.strip(), rest[0]
        first, newline, more = given.partition("\n")
        if newline and name == "function" and not first.lstrip().startswith("{"):  # older: function<sep>NAME, fence
            name, given = first.strip(), more
        fenced = _FENCED.match(given)
        yield written_call(name or None, arguments_of((fenced[1] if fenced else given).strip()))
        yield _without_last(_END.sub("", after[0])) if after else ""


def end_of_json(text: str, start: int) -> int | None:
    """Where the object or list that begins here ends; null where it never does."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


def _without_last(text: str) -> str:
    """The text without what ends an answer."""
    text = text.rstrip()
    while (last := next((token for token in LAST if text.endswith(token)), None)) is not None:
        text = text.removesuffix(last).rstrip()
    return text


def after_marks(text: str) -> list[str] | None:
    """The outputs in what was said after calls; null where no token begins one."""
    if not (RESULTS in text or ("<" in text and "output" in text)):
        return None
    _, *pieces = _OUTPUT.split(text)
    return [_OUTPUT_END.split(piece, maxsplit=1)[0].strip() for piece in pieces] or None
