"""T24: a full disk refuses an upload whole, can still be read, and takes uploads again once there is space."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.build import run
from tests.store.shelf import PROJECT, put
from trajcredit.errors import StoreError
from trajcredit.model import Trajectory, encode
from trajcredit.service.ingesting import Item, ingest_paths
from trajcredit.store import Store, StoreFullError, documents, open_store, pages
from trajcredit.store.checking import check

noise = random.Random(24)


def large(name: str) -> Trajectory:
    """Half a megabyte that does not compress."""
    item = run("ucra", 1.0, name=name)
    return replace(item, spans=[replace(item.spans[0], text=noise.randbytes(250_000).hex()), *item.spans[1:]])


def limit(store: Store, pages_more: int) -> None:
    """As much space as this, and no more: SQLite's own limit, on the connection that writes."""
    with store.write() as conn:
        used = conn.exec_driver_sql("PRAGMA page_count").scalar_one()
        conn.exec_driver_sql(f"PRAGMA max_page_count = {used + pages_more}")


def test_a_full_disk_refuses_whole_uploads_until_there_is_space_again(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        put(store, large("before"))
        limit(store, 10)
        for _ in range(2):
            with pytest.raises(StoreFullError, match="no space left; nothing of this step was stored"):
                put(store, run("ucra", name="small"), large("too large"), raw=b"x" * 100)
        with store.read() as conn:
            assert [one.external_id for one in pages.page(conn, PROJECT).trajectories] == ["before"]
            assert len(documents.document(conn, PROJECT, "ext:before").spans) == 4
            assert check(conn).problems == ()
        limit(store, 10_000)
        assert [one.status for one in put(store, run("ucra", name="small"), large("fits now"))] == ["created"] * 2
        with store.read() as conn:
            assert check(conn).problems == ()


def test_what_fits_beside_a_full_disk_is_still_stored(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        limit(store, 40)
        with pytest.raises(StoreFullError):
            put(store, large("too large"))
        assert put(store, run("ucra", name="small"))[0].status == "created"


def test_a_full_disk_is_a_store_error_for_who_does_not_look_closer() -> None:
    assert issubclass(StoreFullError, StoreError)


def test_a_full_postgres_says_the_same(postgres_url: str) -> None:
    with open_store(postgres_url) as store:
        put(store, run("ucra", name="before"))
        with pytest.raises(StoreFullError, match="no space left"), store.write() as conn:
            conn.exec_driver_sql("DO $$ BEGIN RAISE EXCEPTION SQLSTATE '53100' USING MESSAGE = 'disk full'; END $$")
        with store.read() as conn:
            assert pages.page(conn, PROJECT).total == 1


def test_an_ingest_that_fills_the_disk_keeps_what_it_answered_and_the_next_one_the_rest(
    sqlite_url: str, tmp_path: Path
) -> None:
    paths = []
    for n in range(6):
        file = tmp_path / f"{n}.jsonl"
        file.write_bytes(encode(large(f"t{n}")) + b"\n")
        paths.append(str(file))
    with open_store(sqlite_url) as store:
        limit(store, 600)
        said: list[Item] = []
        with pytest.raises(StoreFullError, match="no space left"):
            said.extend(ingest_paths(store, PROJECT, paths))
        with store.read() as conn:
            there = [one.external_id for one in pages.page(conn, PROJECT, sort="created").trajectories]
            assert check(conn).problems == ()
        assert [item.external_id for item in said] == there == [f"t{n}" for n in range(len(said))]
        assert 0 < len(there) < 6
        limit(store, 10_000)
        ends = [item.status for item in ingest_paths(store, PROJECT, paths)]
        assert ends == ["duplicate"] * len(there) + ["created"] * (6 - len(there))
