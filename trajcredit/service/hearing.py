"""What a stored run hears: judges asked on the spot, and the kept opinions of judgings."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from trajcredit import judges, registry
from trajcredit.batching import Batch
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.judges import Means, Opinions
from trajcredit.judges.opinions import decoded
from trajcredit.service.judged import local, parts, same_scale, together
from trajcredit.store import Store, judgings, opinions
from trajcredit.store.judgings import PREFIX

__all__ = ["Hearing", "check", "fit"]


def check(store: Store, project: str, spec: str) -> None:
    """InputError, UnknownNameError or NotFoundError where `a+b` names what is neither a judge to ask on the spot nor a
    judging of the project."""
    fit(spec)
    for name in parts(spec):
        if name.startswith(PREFIX):
            with store.read() as conn:
                judgings.find(conn, project, name)


def fit(spec: str) -> None:
    """InputError or UnknownNameError where `a+b` names what no stored run can hear."""
    for name in parts(spec):
        if not name.startswith(PREFIX) and not local(name):
            _refuse(name)


def _refuse(name: str) -> None:
    if "/" in name or "." in name:
        raise InputError(
            f"judge {name[:200]!r}: a stored run hears a judge by name, or a judging by its id ({PREFIX}...); "
            "`trajcredit score -a judge:judge=FILE` reads a file of opinions"
        )
    if name in registry.judges.items():
        raise InputError(f"judge {name!r} is asked by a judging first: POST /judgings, then judge={PREFIX}...")
    raise UnknownNameError("judge", name, [one for one in registry.judges.items() if local(one)])


class Hearing:
    """Stands in for `judged` where opinions are kept in a database; `fingerprint` is of all that was heard."""

    def __init__(self, store: Store, project: str, ids: Sequence[str]) -> None:
        self._store, self._project, self._ids = store, project, ids
        self._counted: dict[str, int] = {}
        self.judge: str | None = None
        self.fingerprint: str | None = None

    def __call__(self, batch: Batch, spec: str) -> Batch:
        """The batch, whose trajectories are those of `ids`, with the columns of the judges of a spec."""
        found, scales, heard = list[tuple[str, Batch]](), dict[str, str](), sha256()
        for name in parts(spec):
            if name.startswith(PREFIX):
                of, scale, said = self._kept(name)
                scales[name] = scale
                found.append((name, of.on(batch)))
                heard.update(said)
            else:
                made = registry.judges.get(name)()
                scales[name] = made.scale
                found.append((name, judges.judge(batch, name)))
                heard.update(made.basis(Means()).fingerprint.encode())
        same_scale(scales)
        self.judge, self.fingerprint = spec, heard.hexdigest()[:12]
        return together(found)

    def moved(self) -> bool:
        """Whether a judging that was heard has said more in the meantime."""
        with self._store.read() as conn:
            now = {name: judgings.find(conn, self._project, name).judged for name in self._counted}
        return now != self._counted

    def _kept(self, name: str) -> tuple[Opinions, str, bytes]:
        with self._store.read() as conn:
            judging = judgings.find(conn, self._project, name)
            rows = opinions.rows_of(conn, judging, self._ids)
        self._counted[name] = judging.judged
        of = {row.trajectory_id: (row,) for row in map(decoded, rows.values())}
        said = b"".join(rows[one] for one in self._ids if one in rows)
        return Opinions(name, judging.asked.judge, judging.asked.scale, of), judging.asked.scale, said  # type: ignore[arg-type]
