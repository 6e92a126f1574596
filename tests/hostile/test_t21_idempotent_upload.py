"""T21: the same upload again changes nothing, whoever sends it and when: one row, and the answer says `duplicate`."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.build import run
from tests.store.shelf import PROJECT, put
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.store import Store, keeping, logs, open_store, pages, trajectories
from trajcredit.store.checking import check
from trajcredit.store.trajectories import Added

AT_ONCE = 16
BATCH = [run("ucrra", n / 4, name=f"t{n}") for n in range(5)]


def upload(store: Store, together: Barrier) -> list[Added]:
    """One request: the log and everything in it, in one transaction."""
    log = logs.packed(b"the same log", "log.jsonl")
    kept = keeping.keep(PROJECT, build_graphs(BATCH), log.sha256)
    together.wait(timeout=60)
    with store.write() as conn:
        logs.keep_raw(conn, PROJECT, log)
        return trajectories.add(conn, PROJECT, kept)


def stored(store: Store) -> list[str]:
    with store.read() as conn:
        assert check(conn).problems == ()
        return [one.id for one in pages.page(conn, PROJECT).trajectories]


def test_sixteen_equal_uploads_at_once_are_stored_once(url: str) -> None:
    together = Barrier(AT_ONCE)
    stores = [open_store(url) for _ in range(4)]  # four of them: as in four processes
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda n: upload(stores[n % 4], together), range(AT_ONCE)))
    for item in zip(*answers, strict=True):
        assert Counter(answer.status for answer in item) == {"created": 1, "duplicate": AT_ONCE - 1}
        assert len({answer.id for answer in item}) == 1
    assert len(stored(stores[0])) == len(BATCH)
    for store in stores:
        store.close()


def test_a_whole_batch_sent_again_changes_nothing(store: Store) -> None:
    put(store, *BATCH)
    before = stored(store)
    assert {answer.status for answer in put(store, *BATCH)} == {"duplicate"}
    assert stored(store) == before


def test_a_batch_whose_connection_was_cut_is_sent_again(store: Store) -> None:
    kept = keeping.keep(PROJECT, build_graphs(BATCH))
    with pytest.raises(InputError), store.write() as conn:  # noqa: PT012  # what is written before it counts
        trajectories.add(conn, PROJECT, kept)
        raise InputError("the client went away")
    assert stored(store) == []
    assert {answer.status for answer in put(store, *BATCH)} == {"created"}


def test_the_same_id_with_other_content_is_a_conflict_unless_asked_for(store: Store) -> None:
    [first] = put(store, BATCH[0])
    other = run("ua", 1.0, name=BATCH[0].id)
    [conflict] = put(store, other)
    assert (conflict.status, conflict.id) == ("conflict", first.id)
    assert stored(store) == [first.id]
    [replaced] = put(store, other, replace=True)
    assert replaced.status == "replaced"
    assert stored(store) == [replaced.id]
