"""Rewards that come later: appended to what is stored, row by row; runs that saw others are stale from then on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite

import msgspec

from trajcredit.errors import InputError
from trajcredit.model import Reward, RewardSource
from trajcredit.service.ingesting import Item
from trajcredit.service.recalling import id_of
from trajcredit.store import Store, ids, rewards, run_numbers
from trajcredit.store.ids import EXTERNAL, Known
from trajcredit.store.rewards import Appended, Given

__all__ = ["Late", "late", "late_one"]

MOST_ROWS = 100_000
"""Rows of one request."""


class _Row(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One line: a reward of a trajectory, or of one of its spans."""

    trajectory: str
    value: float
    source: RewardSource = "verifier"
    span: int | None = None
    name: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Late:
    """One answer a row, in order; `stale_runs`: how many finished runs these made stale."""

    appended: int
    rejected: int
    items: tuple[Item, ...]
    stale_runs: int


_decode = msgspec.json.Decoder(_Row).decode


def late(store: Store, project: str, data: bytes) -> Late:
    """Append the rewards of JSON lines `{"trajectory", "value", "source", "span", "name", "at"}`; all but two may lack.

    A trajectory goes by our id, by `ext:` and the log's own, or by the log's own alone where that is no id of another.
    Sent again they change nothing. A row that cannot be read, or names nothing stored, is rejected; the rest counts.
    """
    read = list(_rows(data))
    items = [_refused(line, row) if isinstance(row, str) else Item("created", line=line) for line, row in read]
    given = [(place, row) for place, (_, row) in enumerate(read) if isinstance(row, Given)]
    stale = 0
    if given:
        with store.write() as conn:
            known = ids.meant(conn, project, list({row.trajectory for _, row in given}))
            said = [(place, row, known.get(row.trajectory)) for place, row in given]
            sure = [(place, _by_id(row, one)) for place, row, one in said if not isinstance(one, InputError)]
            before = run_numbers.fresh(conn, project)
            answers = rewards.append(conn, project, [row for _, row in sure])
            stale = before - run_numbers.fresh(conn, project)
        for (place, row), answer in zip(sure, answers, strict=True):
            items[place] = _answered(read[place][0], row.trajectory, answer)
        for place, _, one in said:
            if isinstance(one, InputError):
                items[place] = _refused(read[place][0], str(one))
    ends = [item.status for item in items]
    return Late(ends.count("created"), ends.count("rejected"), tuple(items), stale)


def late_one(store: Store, project: str, trajectory: str, value: str, how: Mapping[str, str | int | None]) -> Late:
    """Append one, of a person unless `how` says otherwise; the trajectory may go by the log's own id alone."""
    try:
        number = float(value)
    except ValueError as error:
        raise InputError(f"expected a number as reward, found {value!r}") from error
    if not isfinite(number):
        raise InputError(f"expected a finite number as reward, found {value!r}")
    told = {key: said for key, said in how.items() if said is not None}
    row = {"source": "human", **told, "trajectory": id_of(store, project, trajectory), "value": number}
    return late(store, project, msgspec.json.encode(row))


def _rows(data: bytes) -> Iterator[tuple[int, Given | str]]:
    """(line, the reward or why there is none); empty lines are none."""
    rows = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line or line.isspace():
            continue
        rows += 1
        if rows > MOST_ROWS:
            raise InputError(f"more than {MOST_ROWS:,} rewards in one request: send them in several")
        try:
            row = _decode(line)
            yield number, Given(row.trajectory, Reward(row.value, row.source, row.span, row.name, _time(row.at)))
        except (msgspec.DecodeError, RecursionError) as error:
            yield number, _why(line, error)
        except InputError as error:
            yield number, str(error)


def _by_id(row: Given, one: Known | None) -> Given:
    """The row with the prefix, where it goes by the log's own id alone."""
    bare = one is not None and row.trajectory == one.external_id != one.id
    return Given(EXTERNAL + row.trajectory, row.reward) if bare else row


def _why(line: bytes, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    try:
        line.decode()
    except UnicodeDecodeError as broken:
        return f"not UTF-8 at byte {broken.start}"
    return str(error)


def _time(at: str | None) -> str | None:
    """The time in UTC, since times are compared as text."""
    if at is None:
        return None
    try:
        found = datetime.fromisoformat(at)
        given = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"at {at[:40]!r}: expected a time as ISO 8601, e.g. 2026-04-14T18:40:12Z - at `$.at`"
        ) from error
    return given.isoformat().replace("+00:00", "Z")


def _answered(line: int, name: str, answer: Appended) -> Item:
    """`name` is what the row calls its trajectory."""
    if name.startswith(EXTERNAL):
        return Item(answer.status, None, name.removeprefix(EXTERNAL), answer.reason, line=line)
    return Item(answer.status, name, reason=answer.reason, line=line)


def _refused(line: int, reason: str) -> Item:
    return Item("rejected", reason=reason, line=line)
