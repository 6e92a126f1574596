"""Whether a repeat is of the judge that it is held against: what two judges say apart is no inconsistency of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trajcredit import judges, registry
from trajcredit.errors import InputError
from trajcredit.service.judged import local, parts

__all__ = ["check_files", "same"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who gave the opinions of a file."""

    judge: str | None
    """None where rows are scores without the name of a judge."""
    scale: str
    versions: frozenset[tuple[str | None, str | None]]
    """Model and prompt version, of opinions."""
    prints: frozenset[str]
    """Fingerprints of opinions."""

    def __str__(self) -> str:
        more = ", ".join(sorted(" ".join(filter(None, one)) for one in self.versions if any(one)))
        return f"{self.judge or 'a judge without a name'}{f' ({more})' if more else ''} on the scale {self.scale}"


def check_files(first: str, repeats: Sequence[str]) -> list[str]:
    """What to say of repeats, names or files of opinions; InputError where one is no repeat of the first.

    Scores without the name of a judge are taken for those of whoever gave the first.
    """
    if not repeats:
        return []
    own, said, seen = [_asked(name) for name in parts(first)], list[str](), {_place(first)}
    for repeat in repeats:
        theirs = [_asked(name) for name in parts(repeat)]
        if _place(repeat) in seen:
            raise InputError(f"--repeat {repeat}: given twice; expected what the judge said when it was asked again")
        seen.add(_place(repeat))
        if [_named(one) for one in theirs] != [_named(one) for one in own]:
            expected, found = (" + ".join(map(str, some)) for some in (own, theirs))
            raise InputError(f"--repeat {repeat}: expected the judge of {first}, {expected}; found {found}")
        if any(a.prints & b.prints for a, b in zip(own, theirs, strict=True)):
            said.append(same(repeat))
    return said


def same(name: str) -> str:
    """What is said of a repeat of which nothing shows that anybody was asked again."""
    return (
        f"the repeat {name} was asked the very same (its fingerprint is the same): where answers are kept it is the "
        "first one again; asked with another `repeat` it is one of its own"
    )


def _asked(name: str) -> _Asked:
    if local(name):
        return _Asked(name, registry.judges.get(name)().scale, frozenset(), frozenset())
    found = judges.load(Path(name))
    rows = [row for rows in found.of.values() for row in rows if isinstance(row, judges.Opinion)]
    return _Asked(
        found.judge if rows else None,
        found.scale,
        frozenset((row.model, row.prompt_version) for row in rows if row.missing is None),
        frozenset(row.fingerprint for row in rows if row.fingerprint and row.missing is None),
    )


def _named(one: _Asked) -> tuple[object, ...]:
    return one.judge, one.scale, one.versions


def _place(spec: str) -> tuple[str, ...]:
    """The same for two spellings of one file, and for two orders of an ensemble."""
    return tuple(sorted(name if local(name) else str(Path(name).resolve()) for name in parts(spec)))
