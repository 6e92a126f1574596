"""The tokens of a folded text, by regular expressions: the slow twin of kernels.words, scan and forms.

Written from docs/edges.md. Where that is silent the twin does what the kernel does, and says so: "as it is".
Positions are bytes of the folded text (graph.text.fold), bits are hundredths of a bit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from trajcredit.kernels.words import (
    ALONE,
    ALPHA,
    BASE,
    COMMAND,
    DATE,
    DOTTED,
    IDKEY,
    KEY,
    MINTED,
    NUMBER,
    PART,
    PATH,
    PLAIN,
    SHOWN,
    START,
    WHOLE,
    WORDS,
    WRITTEN,
)  # fmt: skip

__all__ = ["Token", "tokens"]

_WORD = rb"[0-9A-Za-z_\x01\x80-\xff]"  # \x01 says that the next letter was a capital
_JOINER = rb"[-./:@+'#]"
_GROUPED = rb"[1-9][0-9]{0,2}(?:,[0-9]{3}(?!" + _WORD + rb"))+"
TOKEN = re.compile(rb"(?:%s|%s+)(?:(?:%s|/[.-])%s+)*" % (_GROUPED, _WORD, _JOINER, _WORD))
LINE_NUMBER = re.compile(rb"[0-9]+(?![0-9])(?:\Z|:|(?!%s)(?!%s%s))" % (_WORD, _JOINER, _WORD))
GAP_OF_TEXT = re.compile(rb"(?:(?!%s).)*" % _WORD, re.DOTALL)
GAP_OF_JSON = re.compile(rb"(?:\\[nrt]|(?!%s).)*" % _WORD, re.DOTALL)

PHRASE = re.compile(rb"[a-z]+(?: [a-z]+){1,5}")

BLANKS = bytes(range(33))
JSON_TEXT = re.compile(rb'\{[\x00- ]*(?=["}]).*\}|\[[\x00- ]*(?=["{\[\]0-9tfn-]).*\]', re.DOTALL)
JSON_PART = re.compile(
    rb'"(?P<string>(?:\\.|[^"\\])*(?:\\\Z)?)"?(?P<key>[\x00- ]*:)?|(?P<brace>[{}])|(?P<bare>%s(?:%s|[.+-])*)'
    % (_WORD, _WORD),
    re.DOTALL,
)
ID_KEY = re.compile(rb".*(?:(?i:id|key|ref|order|number)|N[oO])|(?i:(?:.*_)?no)", re.DOTALL)
DEEPEST = 63

ISO_DATE = re.compile(rb"[0-9]{4}[-/][01][0-9][-/][0-3][0-9](?:T.*)?", re.DOTALL)
MONTHS = (
    b"january", b"february", b"march", b"april", b"may", b"june",
    b"july", b"august", b"september", b"october", b"november", b"december",
)  # fmt: skip
_YEAR = rb"[,.]? {0,2}(?P<year>[1-9][0-9]{3})(?!" + _WORD + rb")"
DAY_AND_YEAR = re.compile(rb"[,.]? {0,2}(?P<day>[0-9]{1,2})(?![0-9])(?:[A-Za-z]{2})?" + _YEAR)
YEAR = re.compile(_YEAR)
DAY_BEFORE = re.compile(rb"(?<!%s)(?P<day>[0-9]{1,2})(?:[A-Z\x61-\xff]{2})? *(?:[oO][fF] *)?\Z" % _WORD)

LONGEST = 512


@dataclass(frozen=True, slots=True)
class Token:
    """One token. `form` is None where nothing compares it; `field` is the place of its JSON key in the list."""

    raw: bytes
    start: int
    form: bytes | None
    bits: int
    flags: int
    scope: int
    field: int | None

    @property
    def end(self) -> int:
        return self.start + len(self.raw)


def tokens(text: bytes) -> list[Token]:
    """The tokens of one folded text, a compound before its pieces."""
    bare = text.strip(BLANKS)
    out: list[Token] = []
    if text.startswith(b"<parameter="):
        _read_tags(text, out)
        return out
    if JSON_TEXT.fullmatch(bare):
        _read_json(text, out)
        return out
    Stretch(text, 0, COMMAND, GAP_OF_TEXT, out).read()
    if len(out) == 1 and out[0].raw == bare and out[0].start == text.index(bare):
        return [replace(out[0], flags=out[0].flags | ALONE | WHOLE | SHOWN)]
    return out


def _read_json(text: bytes, out: list[Token]) -> None:
    """Strings and bare numbers; arrays are no structure, every object is a scope."""
    scope_at = {0: 0}
    depth = scopes = id_key = 0
    field: int | None = None
    for part in JSON_PART.finditer(text):
        scope = scope_at[min(depth, DEEPEST)]
        if part["brace"] == b"{":
            depth, scopes = depth + 1, scopes + 1
            scope_at[min(depth, DEEPEST)] = scopes
            field, id_key = None, 0
        elif part["brace"]:
            depth = max(0, depth - 1)
            field, id_key = None, 0
        elif part["bare"] is not None:
            bits, flags = worth(part["bare"])
            if flags & NUMBER:
                flags |= WHOLE | SHOWN | id_key
                out.append(_token(part["bare"], part.start(), bits, flags, scope, field))
        elif part["key"] is not None:
            before = len(out)
            Stretch(part["string"], part.start() + 1, KEY, GAP_OF_JSON, out, scope).read()
            field = len(out) - 1 if len(out) > before else None  # as it is: the last piece of the key, not the key
            id_key = IDKEY if ID_KEY.fullmatch(part["string"]) else 0
        else:
            every = WHOLE | COMMAND | id_key
            Stretch(part["string"], part.start() + 1, every, GAP_OF_JSON, out, scope, field).read()


def _read_tags(text: bytes, out: list[Token]) -> None:
    """Arguments in tags: a key up to the bracket, a whole value up to the closing tag or to the next argument."""
    for part in re.finditer(rb"<parameter=((?:(?!<parameter=).)*)", text, re.DOTALL):
        key, bracket, value = part[1].partition(b">")
        before = len(out)
        Stretch(key, part.start(1), KEY, GAP_OF_JSON, out).read()
        field = len(out) - 1 if len(out) > before else None
        value = value.partition(b"</parameter>")[0]
        start = part.start(1) + len(key) + len(bracket)
        if value.startswith(b"\n"):
            value, start = value[1:], start + 1
        every = WHOLE | COMMAND | (IDKEY if ID_KEY.fullmatch(key) else 0)
        Stretch(value.removesuffix(b"\n"), start, every, GAP_OF_JSON, out, 0, field).read()


@dataclass(slots=True)
class Stretch:
    """A run of prose: a whole text, in which every line is a scope, or one JSON string.

    `every` flags its tokens; WHOLE stays only on a token that fills it, COMMAND only in its first line.
    """

    text: bytes
    at: int
    every: int
    gap: re.Pattern[bytes]
    out: list[Token]
    scope: int = 0
    field: int | None = None

    def read(self) -> None:
        """Gap, token, gap, token, ..."""
        lines = self.gap is GAP_OF_TEXT
        starts = lines
        command = self.every & COMMAND
        if re.match(rb"cd .", self.text, re.DOTALL):
            command = 0
        if self.every & WHOLE and len(self.text) <= 48 and PHRASE.fullmatch(self.text):
            self._add(self.text, 0, 0, self.every & (KEY | IDKEY) | command | WHOLE | SHOWN | PLAIN | ALPHA)
        end = 0
        while True:
            gap = _matched(self.gap, self.text, end)
            starts = starts or re.search(rb"[.!?\n]|\\[nrt]", gap.group()) is not None
            for turn in re.findall(rb"\n|\\[nr]|&&", gap.group()):
                command = self.every & COMMAND if turn == b"&&" else 0
            self.scope += gap.group().count(b"\n") if lines else 0
            if gap.end() == len(self.text):
                return
            word = _matched(TOKEN, self.text, gap.end())
            word = _matched(re.compile(re.escape(self._file(word))), self.text, gap.end())
            flags = self.every & (KEY | IDKEY) | command | (START if starts else 0) | self._shown(word)
            end = self._keep(word, flags)
            starts = False

    def _file(self, word: re.Match[bytes]) -> bytes:
        """The token, or its part before the colon and the number of a line of the file that it names."""
        for colon in re.finditer(rb":", word.group()):
            file = word.group()[: colon.start()]
            names_file = re.search(rb".\.[^0-9]", file.rpartition(b"/")[2])
            if names_file and LINE_NUMBER.match(self.text, word.start() + colon.end()):
                return file
        return word.group()

    def _shown(self, word: re.Match[bytes]) -> int:
        """In quotes, or after = or : and at most one blank; WHOLE where the token is the stretch."""
        start, end = word.span()
        rooted = re.fullmatch(rb"[./~]*/", self.text[:start]) and not re.fullmatch(rb"[a-z]+", word.group())
        if self.every & WHOLE and end == len(self.text) and (start == 0 or rooted):
            return WHOLE | SHOWN
        before, after = self.text[max(0, start - 2) : start], self.text[end : end + 1]
        if before.endswith((b'"', b"'", b"`")):
            return SHOWN if after in (before[-1:], b"\\") else 0
        return SHOWN if before.removesuffix(b" ").endswith((b"=", b":")) else 0

    def _keep(self, word: re.Match[bytes], flags: int) -> int:
        """Keep a token and its pieces; where reading goes on."""
        raw, start = word.group(), word.start()
        if ISO_DATE.fullmatch(raw):
            self._add(raw[:10], start, 1200, flags | DATE)
            return word.end()
        date = written_date(self.text, *word.span())
        if date is not None:
            form, first, last = date
            token = _token(self.text[first:last], self.at + first, 1200, flags | DATE, self.scope, self.field)
            self.out.append(replace(token, form=form, flags=token.flags | WRITTEN))
            return last
        raw = re.sub(rb"'[sS]\Z", b"", raw)  # the possessive
        bits, looks = worth(raw)
        if bits or looks:
            self._add(raw, start, bits, flags | looks)
            here = flags & (KEY | IDKEY | SHOWN | START | COMMAND) | PART
            for piece, offset, of_path in _pieces(raw, looks):
                bits, looks = worth(piece)
                if bits or looks or of_path:
                    is_name = of_path and b"/" not in piece
                    self._add(piece, start + offset, bits, here | looks | (PATH | BASE if is_name else 0))
        return word.end()

    def _add(self, raw: bytes, start: int, bits: int, flags: int) -> None:
        self.out.append(_token(raw, self.at + start, bits, flags, self.scope, self.field))


def _matched(pattern: re.Pattern[bytes], text: bytes, at: int) -> re.Match[bytes]:
    found = pattern.match(text, at)
    assert found is not None
    return found


def _token(raw: bytes, start: int, bits: int, flags: int, scope: int, field: int | None) -> Token:
    return Token(raw, start, normal_form(raw, flags), bits, flags, scope, field)


def _pieces(raw: bytes, flags: int) -> list[tuple[bytes, int, bool]]:
    """(piece, where it starts, whether of a path): of a path the last two components, these without the
    suffix, and the last one."""
    if flags & NUMBER:
        return []
    if flags & PATH:
        tails = re.finditer(rb"(?<=/)(?=([^/]*/[^/]*)\Z)|(?<=/)(?=([^/]*)\Z)", raw)
        found = [(raw[tail.start() :], tail.start(), True) for tail in tails]
        last = re.search(rb"(?:[^/]*/)?[^/]+(?=\.[^0-9./][^./]*\Z)", raw)
        module = [(last.group(), last.start(), True)] if last and b"/" in last.group() else []
        return [*found[:-1], *module, found[-1]]
    words = re.finditer(rb"(?:(?!%s).)+" % _JOINER, raw, re.DOTALL)
    return [(m.group(), m.start(), False) for m in words if 2 <= len(m.group()) < len(raw)]


def written_date(text: bytes, start: int, end: int) -> tuple[bytes, int, int] | None:
    """A date around the month name at [start, end): its ISO form and its range.

    As it is: any two letters pass for the suffix of the day, and before a month { | } ~ pass for letters.
    """
    name = text[start:end].lower()
    month = next((k for k, m in enumerate(MONTHS, 1) if name in (m, m[:3])), None)
    if month is None:
        return None
    after, year = DAY_AND_YEAR.match(text, end), YEAR.match(text, end)
    before = DAY_BEFORE.search(text[:start]) if year else None
    if after is not None:
        day, first, year = int(after["day"]), start, after
    elif before is not None:
        day, first = int(before["day"]), before.start()
    if year is None or (after is None and before is None) or not 1 <= day <= 31:
        return None
    return b"%s-%02d-%02d" % (year["year"], month, day), first, year.end()


def normal_form(raw: bytes, flags: int) -> bytes | None:
    """The token as it is compared; None for data too long to be a value, and for nothing at all."""
    if len(raw) > LONGEST:
        return None
    if flags & DATE:
        return raw.replace(b"/", b"-")
    form = raw.replace(b"\x01", b"").lower()
    if flags & NUMBER:
        form = form.replace(b",", b"")
        form = form.rstrip(b"0").rstrip(b".") if b"." in form[1:] else form  # a file of the name .0 keeps it
    return form or None


def worth(raw: bytes) -> tuple[int, int]:
    """Bits and flags by the characters alone: the table of docs/edges.md."""
    digits, capitals = _count(rb"[0-9]", raw), _count(rb"[A-Z\x01]", raw)
    marked = _count(rb"\x01[^\xc0-\xff]*[\xc0-\xff]", raw)  # the letter that a mark makes a capital
    letters = capitals + _count(rb"[a-z\xc0-\xff]", raw) - marked
    if letters == 0:
        return _number_worth(raw, digits)
    minted = MINTED if digits >= 2 and letters + digits >= 6 else 0
    if re.search(rb"[/@_]", raw) or (b"." in raw and b"'" not in raw):
        of_words = digits == 0 and not re.search(rb"[/@.]", raw)
        plain = DOTTED if digits == 0 and b"@" not in raw else 0
        looks = WORDS if of_words else plain or (0 if b"@" in raw else minted)
        return min(3000, (140 if of_words else 220) * len(raw)), PATH if b"/" in raw else looks
    if digits == 0:
        return _word_worth(raw, letters, capitals)
    counted = re.match(rb"[0-9]+(?=(-?))", raw)
    if counted and len(counted.group()) == digits and not capitals and (letters <= 3 or counted[1]):
        return _digits_worth(counted.group()), 0
    if re.fullmatch(rb"(?:[a-z\x80-\xff]|\x01)*[0-9]{1,2}", raw) and 3 <= letters <= 6 and not capitals:
        return 350 + _digits_worth(raw[-digits:]), 0
    return min(4000, 400 * (letters + digits)), minted


def _count(pattern: bytes, raw: bytes) -> int:
    return len(re.findall(pattern, raw))


def _number_worth(raw: bytes, digits: int) -> tuple[int, int]:
    """A number has at most one dot; other joined digits (a clock, a phone number) are none."""
    joiners = re.findall(_JOINER, raw)
    if digits and joiners in ([], [b"."]):
        return (_digits_worth(raw) if len(raw) >= 3 else 0), NUMBER
    return (_digits_worth(raw) if digits >= 3 else 0), 0


def _digits_worth(raw: bytes) -> int:
    """3.32 bits a digit, from the first that is not 0; zeros at the end half, and none after a point."""
    digits = re.sub(rb"[^0-9]", b"", raw.rstrip(b"0") if b"." in raw else raw).lstrip(b"0")
    zeros = len(digits) - len(digits.rstrip(b"0"))
    return 332 * (len(digits) - zeros) + 166 * zeros


def _word_worth(raw: bytes, letters: int, capitals: int) -> tuple[int, int]:
    joints = _count(rb"[-./:@+#]", raw)  # an apostrophe joins nothing: O'Brien is one name
    if capitals == 0:
        return 0, PLAIN | ALPHA
    if letters == 1:
        return 0, 0
    if capitals == letters:
        return min(2400, 400 * letters), ALPHA
    if _count(rb"[A-Z\x01]", raw[1:]) > joints:
        return min(2400, 120 * letters), ALPHA
    return 750 * (1 + joints), ALPHA
