"""Which trajectory an id means: ours, or `ext:` and the client's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, or_, select

from trajcredit.errors import InputError, NotFoundError
from trajcredit.store.border import clean
from trajcredit.store.bulk import among
from trajcredit.store.tables import trajectories

__all__ = ["EXTERNAL", "Known", "find", "find_all", "known", "meant"]

EXTERNAL = "ext:"


@dataclass(frozen=True, slots=True)
class Known:
    """A stored trajectory by all its names. `key` is of this database and never leaves the store."""

    key: int
    id: str
    external_id: str
    n_spans: int


def known(conn: Connection, project: str, refs: Sequence[str]) -> dict[str, Known]:
    """Those of the ids that mean a trajectory of the project, in no particular order."""
    outside = [ref.removeprefix(EXTERNAL) for ref in refs if ref.startswith(EXTERNAL)]
    ours = [ref for ref in refs if not ref.startswith(EXTERNAL)]
    t = trajectories.c
    named = or_(among(conn, t.id, ours), among(conn, t.external_id, outside)) if outside else among(conn, t.id, ours)
    found = [Known(*row) for row in conn.execute(_SELECT.where(t.project == project, named))]
    by_name = {name: one for one in found for name in (one.id, EXTERNAL + one.external_id)}
    return {ref: by_name[clean(ref)] for ref in refs if clean(ref) in by_name}


def meant(conn: Connection, project: str, names: Sequence[str]) -> dict[str, Known | InputError]:
    """The trajectory that people call so: by an id as above, or by the client's own without a prefix.

    Names that mean none are not in it; one that is the id here of one trajectory and the client's of another is an
    error that says what to write instead. With the prefix it is always the client's.
    """
    found = known(conn, project, [*names, *(EXTERNAL + name for name in names)])
    answers: dict[str, Known | InputError] = {}
    for name in names:
        direct, bare = found.get(name), found.get(EXTERNAL + name)
        one = direct or bare
        if one is None:
            continue
        answers[name] = one
        if direct is not None and bare not in (None, direct) and not name.startswith(EXTERNAL):
            said = f"{name!r} is the id here of one trajectory and the log's own id of another"
            write = f"write {EXTERNAL + name!r} for the latter, {EXTERNAL + direct.external_id!r} for the former"
            answers[name] = InputError(f"{said}: {write}")
    return answers


def find(conn: Connection, project: str, ref: str) -> Known:
    """The trajectory of one id; NotFoundError names what was looked for."""
    return find_all(conn, project, [ref])[0]


def find_all(conn: Connection, project: str, refs: Sequence[str]) -> list[Known]:
    """The trajectory of each id, in their order."""
    found = known(conn, project, refs)
    missing = [ref for ref in refs if ref not in found]
    if missing:
        raise NotFoundError(f"no trajectory {missing[0]!r} in project {project!r}")
    return [found[ref] for ref in refs]


_SELECT = select(trajectories.c.key, trajectories.c.id, trajectories.c.external_id, trajectories.c.n_spans)
