"""T26: an old database comes up to date with every row it had, or stays as it is, also when the process is killed."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Boolean, Engine, MetaData, NullPool, create_engine, func, inspect, select, text

from tests.build import run
from tests.databases import BOTH, new_url
from tests.store.fixture import DATA
from tests.store.scored import GRPO
from tests.store.shelf import PROJECT, put
from trajcredit.errors import StoreError
from trajcredit.model import decode
from trajcredit.store import Store, documents, migrate, open_store, run_credits, runs, tables
from trajcredit.store.checking import check

FOLDER = migrate.folder()
VERSIONS = migrate.versions(FOLDER)
OLD = [version.stem for version in sorted(DATA.glob("*.sql"))]


def engine(url: str) -> Engine:
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool)


# ---------------------------------------------------------------- databases of old versions


@pytest.fixture(params=BOTH)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def old_database(kind: str, version: str, folder: Path) -> Iterator[str]:
    """A database of that version, with what that version wrote in it."""
    for url in new_url(kind, folder, template=False):
        dump = (DATA / f"{version}.sql").read_text(encoding="utf-8")
        if kind == "sqlite":
            conn = sqlite3.connect(url.removeprefix("sqlite:///"))
            conn.executescript(dump)
            conn.close()
        else:
            copied = sqlite3.connect(":memory:")
            copied.executescript(dump)
            fill(url, version, copied)
            copied.close()
        yield url


def fill(url: str, version: str, source: sqlite3.Connection) -> None:
    """Make the tables of a version on PostgreSQL and put the rows of a SQLite database into them."""
    with engine(url).begin() as conn:
        migrate.upgrade(conn, FOLDER, version)
        metadata = MetaData()
        metadata.reflect(conn)
        for table in metadata.sorted_tables:
            if table.name == migrate.VERSION_TABLE:
                continue
            source.row_factory = sqlite3.Row
            rows = [dict(row) for row in source.execute(f'SELECT * FROM "{table.name}"')]
            for row in rows:
                row |= {
                    c.name: bool(row[c.name])
                    for c in table.c
                    if isinstance(c.type, Boolean) and row[c.name] is not None
                }
            if rows:
                conn.execute(table.insert(), rows)
            for column in (c for c in table.c if c.identity is not None):
                sequence = func.pg_get_serial_sequence(table.name, column.name)
                conn.execute(
                    select(
                        func.setval(sequence, select(func.coalesce(func.max(column), 0) + 1).scalar_subquery(), False)
                    )
                )


def rows(store: Store) -> dict[str, int]:
    with store.read() as conn:
        return {
            name: conn.scalar(select(func.count()).select_from(table)) or 0
            for name, table in tables.metadata.tables.items()
        }


@pytest.mark.parametrize("version", OLD)
def test_an_old_database_comes_up_to_date_with_all_it_had(kind: str, version: str, tmp_path: Path) -> None:
    lines = (DATA / f"{version}.jsonl").read_bytes().splitlines()
    for url in old_database(kind, version, tmp_path):
        with open_store(url) as store:
            with store.read() as conn:
                assert migrate.version(conn) == VERSIONS[-1]
                assert check(conn).problems == ()
                for item in map(decode, lines):
                    assert documents.document(conn, PROJECT, f"ext:{item.id}") == item
                made = runs.find(conn, PROJECT, "grpo")
                assert made.asked == GRPO
                assert made.stale == "a reward came later"
                assert len(list(run_credits.each(conn, PROJECT, made.id))) == len(lines)
            assert put(store, run("ucra", 1.0, name="new"))[0].status == "created"
            assert rows(store)["trajectories"] == len(lines) + 1


# ---------------------------------------------------------------- migrations still to come


NEXT = """
import os, signal
import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{last}"

def upgrade():
    op.add_column("logs", sa.Column("note", sa.Text()))
    with op.batch_alter_table("trajectories", recreate="auto") as batch:
        batch.alter_column("trial", type_=sa.Text(), nullable=False, server_default="?", existing_type=sa.Text())
    {then}
"""


def with_next(folder: Path, then: str = "pass") -> Path:
    """The migrations and one more, that rebuilds the table everything hangs on."""
    copy = folder / "migrations"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "versions" / "9001_next.py").write_text(NEXT.format(last=VERSIONS[-1], then=then), encoding="utf-8")
    return copy


@pytest.fixture
def filled(kind: str, tmp_path: Path) -> Iterator[str]:
    """A database of the present version with rows in every table but one."""
    for url in new_url(kind, tmp_path):
        with open_store(url) as store:
            put(store, run("ucra", 1.0, name="a"), run("uccrra", 0.0, name="b"), raw=b"log")
            with store.write() as conn:  # NULLs would break what the next version says of it
                conn.execute(text("UPDATE trajectories SET trial = '1'"))
        yield url


def backups(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.bak"))


def test_an_upgrade_keeps_every_row_and_a_copy_of_the_file_before_it(kind: str, filled: str, tmp_path: Path) -> None:
    with open_store(filled) as store:
        before = rows(store)
    with open_store(filled, with_next(tmp_path)) as store:
        assert rows(store) == before
        with store.read() as conn:
            assert migrate.version(conn) == "9001"
            assert check(conn).problems == ()
    if kind == "sqlite":
        [copy] = backups(tmp_path)
        with open_store(str(copy)) as store:
            assert rows(store) == before
    with pytest.raises(StoreError, match="version 9001"):
        open_store(filled)


@pytest.mark.parametrize(
    "then",
    [
        pytest.param("raise RuntimeError('no')", id="it fails"),
        pytest.param("op.execute('DELETE FROM logs')", id="it would leave rows without their parents"),
    ],
)
def test_an_upgrade_that_fails_leaves_the_database_as_it_was(kind: str, filled: str, then: str, tmp_path: Path) -> None:
    with open_store(filled) as store:
        before = rows(store)
    with pytest.raises((RuntimeError, Exception), match=r"no|without the row|foreign key"):
        open_store(filled, with_next(tmp_path, then))
    with open_store(filled) as store:
        assert rows(store) == before
        with store.read() as conn:
            assert not [name for name in inspect(conn).get_table_names() if name.startswith("_alembic_tmp")]
            assert "note" not in {column["name"] for column in inspect(conn).get_columns("logs")}
    with open_store(filled, with_next(tmp_path)) as store:
        assert rows(store) == before


def test_a_process_killed_in_the_middle_of_an_upgrade_leaves_it_to_the_next(filled: str, tmp_path: Path) -> None:
    killed = with_next(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    code = f"import pathlib, trajcredit.store as s; s.open_store({filled!r}, pathlib.Path({str(killed)!r}))"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with open_store(filled) as store:
        before = rows(store)
        with store.read() as conn:
            assert migrate.version(conn) == VERSIONS[-1]
    with open_store(filled, with_next(tmp_path)) as store:
        assert rows(store) == before


def test_nothing_is_copied_where_nothing_is_to_be_done(sqlite_url: str, tmp_path: Path) -> None:
    for _ in range(2):
        open_store(sqlite_url).close()
    open_store(str(tmp_path / "new.db")).close()
    assert backups(tmp_path) == []


def test_processes_that_open_a_new_database_at_once_all_get_it(kind: str, tmp_path: Path) -> None:
    for url in new_url(kind, tmp_path, template=False):
        code = f"from trajcredit.store import open_store; open_store({url!r}).close()"
        every = [
            subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            for _ in range(4)
        ]
        for one in every:
            _, said = one.communicate(timeout=60)
            assert one.returncode == 0, said
        with open_store(url) as store:
            assert sum(rows(store).values()) == 0
