"""The open database: its settings, one writer and many readers, and what is refused with which words."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from tests.build import run
from tests.databases import new_url
from tests.store.shelf import PROJECT, put
from trajcredit.errors import InputError, StoreError
from trajcredit.store import Store, open_store, pages
from trajcredit.store.migrate import VERSION_TABLE, folder, versions
from trajcredit.store.sqlite import network_type

SETTINGS = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


def test_every_sqlite_connection_has_the_settings_that_were_measured(sqlite_url: str) -> None:
    with open_store(sqlite_url) as store:
        for opened in (store.read, store.write, store.read):
            with opened() as conn:
                found = {name: conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in SETTINGS}
            assert found == SETTINGS


def test_a_read_transaction_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError, match=r"readonly|read-only"), store.read() as conn:
        conn.execute(text("DELETE FROM logs"))


def test_a_reader_sees_one_state_while_a_writer_commits(store: Store) -> None:
    put(store, run("a", name="a"))
    with store.read() as conn:
        assert pages.page(conn, PROJECT).total == 1
        put(store, run("a", name="b"))
        assert pages.page(conn, PROJECT).total == 1
    with store.read() as conn:
        assert pages.page(conn, PROJECT).total == 2


def test_what_one_writer_reads_no_other_changes_before_it_is_done(url: str) -> None:
    stores = [open_store(url) for _ in range(2)]  # two of them: as in two processes
    with stores[0].write() as conn:
        conn.execute(text("CREATE TABLE counter (n INTEGER NOT NULL)"))
        conn.execute(text("INSERT INTO counter VALUES (0)"))

    def add(worker: int) -> None:
        for _ in range(10):
            with stores[worker % 2].write() as conn:
                n = conn.scalar(text("SELECT n FROM counter"))
                conn.execute(text("UPDATE counter SET n = :n"), {"n": n + 1})

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(add, range(6)))
    with stores[0].read() as conn:
        assert conn.scalar(text("SELECT n FROM counter")) == 60
    for store in stores:
        store.close()


def test_a_writer_that_waits_too_long_is_told_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajcredit.store.sqlite.BUSY_MS", 50)
    monkeypatch.setattr("trajcredit.store.sqlite._SETTINGS", ("busy_timeout = 50",))
    monkeypatch.setattr("trajcredit.store.postgres.WAIT", "50ms")
    with open_store(url) as one, open_store(url) as other, one.write():
        with pytest.raises(StoreError, match="lock"), other.write():
            pass
        with other.read() as conn:
            assert pages.page(conn, PROJECT).total == 0


def test_a_database_of_a_newer_version_is_refused_by_both_names(url: str) -> None:
    with open_store(url) as store, store.write() as conn:
        conn.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    newest = versions(folder())[-1]
    with pytest.raises(StoreError, match=f"version 9999.* up to {newest}: install a newer one"):
        open_store(url)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_database_of_something_else_is_left_alone(kind: str, tmp_path: Path) -> None:
    from sqlalchemy import create_engine

    for url in new_url(kind, tmp_path, template=False):
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.begin() as conn:
            conn.execute(text("CREATE TABLE runs (mine INTEGER)"))
        with pytest.raises(StoreError, match="not from trajcredit: runs"):
            open_store(url)
        engine.dispose()


@pytest.mark.parametrize(
    ("url", "error", "why"),
    [
        pytest.param("sqlite://", InputError, "in memory", id="in memory"),
        pytest.param("sqlite:///:memory:", InputError, "in memory", id="in memory by name"),
        pytest.param("", InputError, "in memory", id="nothing"),
        pytest.param("mysql://host/db", InputError, "known: sqlite, postgresql", id="another database"),
        pytest.param("://", InputError, "no URL", id="not a URL"),
        pytest.param("/nowhere/at/all/store.db", StoreError, "no folder /nowhere/at/all", id="no such folder"),
    ],
)
def test_what_is_no_place_for_a_store_is_refused(url: str, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        open_store(url)


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to be taken for one\n" * 100)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="not a database"):
        open_store(str(file))
    assert file.read_bytes() == before


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder; a database is a file"):
        open_store(str(tmp_path))


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match=r"me:\*\*\*@127\.0\.0\.1") as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(caught.value)


def test_no_error_shows_what_was_stored(store: Store) -> None:
    statement = text("INSERT INTO idempotency (project, key) VALUES (:project, :key)")
    with pytest.raises(IntegrityError) as caught, store.write() as conn:
        conn.execute(statement, {"project": "p", "key": "the secret"})
    assert "the secret" not in str(caught.value).split("DETAIL")[0]


@pytest.mark.parametrize("shape", ["sqlite:///{}", "{}"])
def test_a_path_is_a_database_with_or_without_a_scheme(shape: str, tmp_path: Path) -> None:
    file = tmp_path / "a folder with % and é" / "my store.db"
    file.parent.mkdir()
    with open_store(shape.format(file)) as store:
        put(store, run("a", name="a"))
        assert store.name == str(file)
    assert sqlite3.connect(file).execute("SELECT count(*) FROM trajectories").fetchone() == (1,)


MOUNTS = """\
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:40 / /home/me/remote rw - nfs4 server:/export rw,vers=4.2
31 22 0:41 / /home/me/with\\040space rw shared:7 master:2 - fuse.sshfs me@host: rw
32 30 0:42 / /home/me/remote/local rw - xfs /dev/vdb rw
""".splitlines()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/store.db", None),
        ("/home/me/remote/store.db", "nfs4"),
        ("/home/me/remotely/store.db", None),
        ("/home/me/with space/deep/store.db", "fuse.sshfs"),
        ("/home/me/remote/local/store.db", None),
    ],
)
def test_a_network_file_system_is_told_from_the_deepest_mount(path: str, kind: str | None) -> None:
    assert network_type(Path(path), MOUNTS) == kind


def test_a_store_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajcredit.store.sqlite.network_type", lambda path, mounts: "nfs4")
    with pytest.raises(StoreError, match=r"network file system .nfs4.: use a local disk"):
        open_store(str(tmp_path / "store.db"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_deleted_or_replaced_is_written_to_no_more(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    with open_store(str(path)) as store:
        path.unlink()
        for work in (store.write, store.read):
            with pytest.raises(StoreError, match="the file is gone"), work():
                pass
        path.touch()
        with pytest.raises(StoreError, match="is another one now"), store.write():
            pass
