"""A tokenizer with its chat template, from the files that models ship: text -> ids with places, ids -> text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trajcredit.arrays import I64
from trajcredit.errors import InputError

if TYPE_CHECKING:
    from tokenizers import AddedToken, Encoding, Tokenizer

    from trajcredit.tokens.templates import Template

__all__ = ["Renderer"]

NEEDED = "reading a tokenizer needs two more packages: pip install 'trajcredit[tokenizers]'"
SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
REASONING = ("reasoning_content", "reasoning", "thinking")
"""Names under which templates read the reasoning of a message."""
LARGEST_ID = (1 << 32) - 1
PROBES = ("x", " x", "\nx", "1")
WINDOW = 8
"""Ids that stand before those being decoded, so that decoders which trim the beginning of a text trim nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Renderer:
    """Messages -> text -> token ids, as an engine with these files does it. Made by `load`."""

    file: str
    """The tokenizer.json, for messages."""
    tokenizer: Tokenizer = field(repr=False)
    templates: Mapping[str, Template] = field(repr=False)
    """By name; without any, texts are tokenised and nothing is rendered."""
    variables: Mapping[str, Any]
    """What templates see besides messages and tools: the special tokens, and what the caller adds."""
    ends: tuple[str, ...]
    """Texts of the tokens that end a turn."""
    special: frozenset[str]
    pad_id: int | None
    anchor: tuple[str, int] | None
    """A special token put before text that continues another, where the tokenizer would begin it with a space."""
    stop: bool = True
    """Whether the token that ends a turn is trained: the policy sampled it."""
    notes: tuple[str, ...] = ()

    @classmethod
    def load(
        cls,
        path: str | Path,
        template: str | Path | None = None,
        *,
        variables: Mapping[str, Any] | None = None,
        stop: bool = True,
    ) -> Renderer:
        """From a folder with `tokenizer.json`, or that file; the template from a file, or as the folder has it.

        `variables` are what the template sees besides; `strftime_now` among them is the date that templates write, as
        YYYY-MM-DD or with a time, and 2024-07-26 by default: the same on every run.

        The folder's template is `chat_template.jinja`, else `chat_template` of `tokenizer_config.json`. InputError
        names the file that is missing or cannot be read, or the packages to install.
        """
        try:
            from tokenizers import Tokenizer

            from trajcredit.tokens.templates import CLOCK, TODAY, Template
        except ImportError as error:
            raise InputError(f"{NEEDED} ({error})") from error
        given = Path(path)
        file = given / "tokenizer.json" if given.is_dir() else given
        if not file.is_file():
            raise InputError(f"{file}: no such file; expected a folder with tokenizer.json, or that file")
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises nothing narrower
            raise InputError(f"{file}: not a tokenizer that the tokenizers library reads: {error}") from error
        _settle(tokenizer)
        _check_model(tokenizer, str(file))
        folder = file.parent
        config = _json(folder / "tokenizer_config.json")
        tokens = {name: text for name in SPECIAL if (text := _content(config.get(name))) is not None}
        pad = tokens.get("pad_token")
        added = tokenizer.get_added_tokens_decoder().values()
        anchor, notes = _anchor(tokenizer, [token for token in added if token.special])
        templates = {name: Template(text, where) for name, (text, where) in _sources(template, folder, config).items()}
        ends, unknown = _ends(tokenizer, tokens, folder / "generation_config.json")
        given_date = (variables or {}).get(CLOCK)
        if given_date is None and any(each.dated for each in templates.values()):
            notes = (*notes, f"the chat template asks for today's date: {TODAY:%Y-%m-%d} is written where it does")
        return cls(
            file=str(file),
            tokenizer=tokenizer,
            templates=templates,
            variables={**tokens, **(variables or {}), **({} if given_date is None else {CLOCK: _clock(given_date)})},
            ends=ends,
            special=frozenset(token.content for token in added if token.special),
            pad_id=None if pad is None else tokenizer.token_to_id(pad),
            anchor=anchor,
            stop=stop,
            notes=(*notes, *unknown),
        )

    # ---------------------------------------------------------------- messages -> text

    def template(self, tools: Sequence[Any]) -> Template:
        """The template for a conversation with or without tools; InputError where there is none."""
        if not self.templates:
            raise InputError(f"{self.file}: no chat template beside it; give the file of one")
        names = ("tool_use", "default") if tools else ("default",)
        found = next((self.templates[name] for name in names if name in self.templates), None)
        if found is None:
            known = ", ".join(sorted(self.templates))
            raise InputError(f"{self.file}: its chat templates are named {known}; expected one named default")
        return found

    def render(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any], *, prompt: bool, marking: bool = False
    ) -> str:
        """The text of the messages; with `prompt` it ends where the next answer begins."""
        template = self.template(tools)
        return template.render(messages, tools or None, self.variables, prompt=prompt, marking=marking)

    def reasoning_key(self, tools: Sequence[Any]) -> str:
        """Where this template looks for the reasoning of a message."""
        source = self.template(tools).source
        return next(
            (key for key in REASONING if any(form in source for form in (f".{key}", f"'{key}'", f'"{key}"'))),
            REASONING[0],
        )

    # ---------------------------------------------------------------- text <-> ids

    @property
    def vocabulary(self) -> int:
        """How many ids it has: 0 to one less."""
        return self.tokenizer.get_vocab_size(with_added_tokens=True)

    def ids(self, text: str, *, begins: bool = False) -> list[int]:
        """The ids of a text, which begins a sequence or goes on with one. No special token is added."""
        return self._encode(text, begins)[0]

    def pieces(self, text: str) -> tuple[list[int], I64]:
        """The ids of a text that goes on with a sequence, and i64[n] the character at which each begins."""
        ids, encoding = self._encode(text, begins=False)
        if not ids:
            return ids, np.zeros(0, dtype=np.int64)
        starts = np.array(encoding.offsets, dtype=np.int64)[-len(ids) :, 0]
        if len(ids) < len(encoding.ids) and self.anchor is not None:
            starts = np.maximum(starts - len(self.anchor[0]), 0)
        return ids, np.maximum.accumulate(starts)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens included."""
        try:
            return self.tokenizer.decode(list(ids), skip_special_tokens=False)
        except Exception as error:  # the library raises nothing narrower
            raise InputError(f"{self.file}: it cannot decode {len(ids)} ids: {error}") from error

    def spelled(self, ids: Sequence[int]) -> tuple[str, I64]:
        """The text of ids, and i64[n] the character at which each begins; of a letter in several ids, where it stands.

        Decoded as it grows, a few ids at a time, so that letters cut between ids come out whole. InputError where the
        pieces do not add up to the whole.
        """
        texts: list[str] = []
        starts: list[int] = []
        length = done = 0
        for end in range(1, len(ids) + 1):
            starts.append(length)
            before = max(0, done - WINDOW)
            known = self.decode(ids[before:done])
            text = self.decode(ids[before:end])
            if text.endswith("�") and end < len(ids) and end - done < WINDOW:
                continue  # a letter is not complete yet
            texts.append(text[len(known) :])
            length += len(texts[-1])
            done = end
        whole = self.decode(ids)
        if "".join(texts) != whole:
            raise InputError(f"{self.file}: the ids do not decode piece by piece to what they are together")
        return whole, np.array(starts, dtype=np.int64)

    def _encode(self, text: str, begins: bool) -> tuple[list[int], Any]:
        """The ids of a text, and the encoding whose last ones they are."""
        if not text:
            return [], None
        if begins or self.anchor is None:
            encoding = _encoded(self.tokenizer, self.file, text)
            return encoding.ids, encoding
        before, before_id = self.anchor
        encoding = _encoded(self.tokenizer, self.file, before + text)
        if encoding.ids[0] != before_id or encoding.offsets[0] != (0, len(before)):
            raise InputError(f"{self.file}: {before!r} before {text[:20]!r} is no token of its own")
        return encoding.ids[1:], encoding


# ---------------------------------------------------------------- reading the files


def _settle(tokenizer: Tokenizer) -> None:
    """Switch off what would cut, pad or shift: places must be those of the text as it is.

    Post-processors only add special tokens, which templates write themselves, and trim white space off the places.
    """
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.post_processor = None


def _encoded(tokenizer: Tokenizer, file: str, text: str) -> Encoding:
    """The encoding of a text without special tokens added; InputError where the model has no token for a part of it."""
    try:
        return tokenizer.encode(text, add_special_tokens=False)
    except Exception as error:  # the library raises nothing narrower
        start = text[:40] + ("..." if len(text) > 40 else "")
        raise InputError(f"{file}: model: it cannot encode {start!r}: {error}") from error


def _check_model(tokenizer: Tokenizer, file: str) -> None:
    """InputError where texts that any tokenizer should take break this one."""
    for probe in PROBES:
        _encoded(tokenizer, file, probe)


def _clock(given: Any) -> Callable[[str], str]:
    from trajcredit.tokens.templates import CLOCK, clock

    try:
        return clock(datetime.fromisoformat(given))
    except (TypeError, ValueError) as error:
        raise InputError(f"template variable {CLOCK}={given!r}: expected a date as YYYY-MM-DD") from error


def _json(file: Path) -> dict[str, Any]:
    """The object in a file; empty where there is no such file. InputError where it holds something else."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{file}: expected a JSON object, found {type(found).__name__}")
    return found


def _content(token: Any) -> str | None:
    """A special token as configurations write it: its text, or an object with it."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) and text else None


def _sources(template: str | Path | None, folder: Path, config: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Name -> a chat template and the file it is from."""
    beside = folder / "chat_template.jinja"
    file = Path(template) if template is not None else beside if beside.is_file() else None
    if file is not None:
        try:
            return {"default": (file.read_text(encoding="utf-8"), str(file))}
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file}: cannot read a chat template from it: {error}") from error
    where = str(folder / "tokenizer_config.json")
    match config.get("chat_template"):
        case None:
            return {}
        case str(text):
            return {"default": (text, where)}
        case list(named) if all(isinstance(each, dict) and {"name", "template"} <= each.keys() for each in named):
            return {str(each["name"]): (str(each["template"]), where) for each in named}
        case other:
            raise InputError(f"{where}: chat_template is {type(other).__name__}: expected text, or names and templates")


def _ends(tokenizer: Tokenizer, tokens: Mapping[str, str], file: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens that end a turn: `eos_token_id` of generation_config.json, and `eos_token`; and what to note."""
    given = _json(file).get("eos_token_id")
    ids = given if isinstance(given, list) else [] if given is None else [given]
    odd = next((i for i in ids if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i <= LARGEST_ID), None)
    if odd is not None:
        raise InputError(f"{file}: eos_token_id holds {odd!r}: expected token ids, 0 to {LARGEST_ID}")
    found = [tokenizer.id_to_token(i) for i in ids]
    note = "eos_token_id of generation_config.json holds ids that the tokenizer does not have: left out"
    eos = tokens.get("eos_token")
    return tuple(dict.fromkeys(text for text in (*found, eos) if text)), (note,) if None in found else ()


def _anchor(tokenizer: Tokenizer, special: Iterable[AddedToken]) -> tuple[tuple[str, int] | None, tuple[str, ...]]:
    """What to put before a text that goes on with another: nothing, where the tokenizer does not care."""
    plain = [tokenizer.encode(probe, add_special_tokens=False).ids for probe in PROBES]
    strict = [t for t in special if not (t.lstrip or t.rstrip or t.single_word)]
    for token in strict:
        number = tokenizer.token_to_id(token.content)
        after = [tokenizer.encode(token.content + probe, add_special_tokens=False).ids for probe in PROBES]
        if number is not None and all(ids[:1] == [number] for ids in after):
            return (None if [ids[1:] for ids in after] == plain else (token.content, number)), ()
    padded = any(
        tokenizer.decode(ids, skip_special_tokens=False) != text for ids, text in zip(plain, PROBES, strict=True)
    )
    note = "the tokenizer may begin every piece of a text with a space, and has no special token to lean on"
    return None, (note,) if padded else ()
