"""One judging at work: windows of transcripts in, opinions kept as they come.

Whatever happens, what was judged stays, and what was not is said: an outage ends as `incomplete`, with the reason at
each trajectory that was asked about; the rest was not asked about yet. Resuming asks for what is missing alone, and
answers that were paid for are kept apart, by what was asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from time import monotonic

from trajcredit import registry
from trajcredit.errors import InputError, StoreError, TrajcreditError
from trajcredit.judges import Basis, Case, Judge, Means, Spent, opinion, segmented
from trajcredit.judges.models import Configured
from trajcredit.judges.opinions import encoded
from trajcredit.service.judging import asks_model, verdicts
from trajcredit.service.judgings import made_of
from trajcredit.store import Store, documents, judgings
from trajcredit.store.ids import known
from trajcredit.store.judgings import Judging, Outlay, State
from trajcredit.store.opinions import Kept, StoredAnswers, save, todo

__all__ = ["SAID_MORE", "Stop", "judge"]

WINDOW = 100
"""Trajectories whose transcripts are in memory at a time."""
FLUSH = 0.5
"""Seconds that opinions which cost nothing wait for others, to be kept with them."""
SAID_MORE = "a judge that it hears said more"
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Stop:
    """Whether the server ends (`asked`), or the judging was stopped by somebody (`gone`)."""

    asked: Callable[[], bool]
    gone: bool = False

    def __call__(self) -> bool:
        return self.gone or self.asked()


def judge(store: Store, found: Judging, models: Mapping[str, Configured], stopped: Callable[[], bool] = bool) -> None:
    """Work on a running judging until it is done, incomplete, failed, or was cancelled by somebody.

    A database that goes away is raised, and a server that ends leaves the judging as it is: whoever works next goes on.
    """
    try:
        _work(store, found, models, Stop(stopped))
    except StoreError:
        raise
    except TrajcreditError as error:
        _end(store, found, "failed", str(error))
    except registry.FOREIGN as error:
        _log.exception("judging %s failed", found.id)
        _end(store, found, "failed", f"internal error: {type(error).__name__}; the server's log has more")


def _work(store: Store, found: Judging, models: Mapping[str, Configured], stop: Stop) -> None:
    made = made_of(found.asked.judge, found.asked.parameters)
    means = Means(StoredAnswers(store), models, stop)
    basis = made.basis(means)
    if found.fingerprint is not None and found.judged and basis.fingerprint != found.fingerprint:
        raise InputError(
            f"judge {found.asked.label!r} is another one now ({basis.fingerprint}, it was {found.fingerprint}): "
            "one judging is of one judge, ask for a new one"
        )
    with store.read() as conn:
        total, left = todo(conn, found)
    with store.write() as conn:
        if judgings.begin(conn, found, total, basis.fingerprint, basis.model, basis.prompt_version) is None:
            return
    keeper = _Keeper(store, found, made, means.spent, stop)
    keeper.flush()  # some of what was judged before may be deleted since
    for first in range(0, len(left), WINDOW):
        _window(store, found, made, means, basis, left[first : first + WINDOW], keeper)
        if stop() or means.spent.away is not None:
            break  # where nobody answers any more, the rest is not asked about in vain
    if stop():
        return
    with store.read() as conn:
        now = judgings.find(conn, found.project, found.id)
        _, left = todo(conn, now)
    why = means.spent.away or f"{len(left):,} of {total:,} could not be judged"
    _end(store, found, "incomplete" if left else "done", why if left else None)


def _window(
    store: Store,
    found: Judging,
    made: Judge,
    means: Means,
    basis: Basis,
    some: Sequence[tuple[int, str]],
    keeper: _Keeper,
) -> None:
    with store.read() as conn:
        there = known(conn, found.project, [name for _, name in some])  # others were deleted in the meantime
        graphs = documents.graphs(conn, found.project, list(there))
    cases = [Case(graph, segmented(graph, made.segments)) for graph in graphs]
    name = found.asked.judge
    for one, case, verdict in zip(there.values(), cases, verdicts(made, name, cases, means), strict=True):
        if verdict.missing is not None and means.stopped():
            break  # it was not asked about, which is no fault to keep
        row = opinion(name, made.scale, basis, case, verdict)
        keeper.keep(Kept(one.key, verdict.missing, encoded(row)))
    keeper.flush()


class _Keeper:
    """Keeps opinions the moment they come where they cost something, else some at a time, and counts what was spent."""

    def __init__(self, store: Store, found: Judging, made: Judge, spent: Spent, stop: Stop) -> None:
        self._store, self._found, self._spent, self._stop = store, found, spent, stop
        self._at_once = asks_model(made)
        self._waiting: list[Kept] = []
        self._told = Outlay()
        self._last = monotonic()

    def keep(self, one: Kept) -> None:
        """Keep it, now or with those that come next."""
        self._waiting.append(one)
        if self._at_once or monotonic() - self._last > FLUSH:
            self.flush()

    def flush(self) -> None:
        """Keep what waits; whoever cancelled the judging is heard.

        Runs that heard it are out of date from then on, whatever becomes of us.
        """
        so_far = Outlay(**{field.name: getattr(self._spent, field.name) for field in fields(Outlay)})
        more = {name: value - getattr(self._told, name) for name, value in asdict(so_far).items()}
        with self._store.write() as conn:
            save(conn, self._found, self._waiting)
            if any(one.missing is None for one in self._waiting):
                judgings.hearing(conn, self._found, SAID_MORE)
            if judgings.progress(conn, self._found, Outlay(**more)) is None:
                self._stop.gone = True
        self._waiting, self._told, self._last = [], so_far, monotonic()


def _end(store: Store, found: Judging, state: State, why: str | None) -> None:
    with store.write() as conn:
        judgings.end(conn, found, state, why)
