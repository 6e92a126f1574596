"""Migrations: one chain, shipped in the wheel, that makes what tables.py says. T26 has what they do to rows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, NullPool, create_engine, inspect, select, text

from tests.databases import BOTH, new_url
from tests.hostile.test_t26_migration import old_database
from tests.store.fixture import DATA
from trajcredit.model import decode, encode
from trajcredit.store import logs, migrate, open_store, tables

FOLDER = migrate.folder()
VERSIONS = migrate.versions(FOLDER)
OLD = [version.stem for version in sorted(DATA.glob("*.sql"))]


def engine(url: str) -> Engine:
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool)


# ---------------------------------------------------------------- the chain, and what it makes


def test_migrations_are_numbered_one_after_the_other() -> None:
    assert [f"{n:04}" for n in range(1, len(VERSIONS) + 1)] == VERSIONS
    for before, version in zip([None, *VERSIONS], VERSIONS, strict=False):
        [file] = (FOLDER / "versions").glob(f"{version}_*.py")
        source = file.read_text(encoding="utf-8")
        assert f'revision = "{version}"' in source
        assert f"down_revision = {before!r}".replace("'", '"') in source


def test_every_version_has_a_database_to_upgrade_from() -> None:
    assert OLD == VERSIONS, "run `python -m tests.store.fixture` once for a new version"


def test_the_wheel_has_the_migrations() -> None:
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["migrations"] == "trajcredit/migrations"


def test_migrations_are_found_in_a_wheel_and_in_a_checkout(tmp_path: Path) -> None:
    beside, above = tmp_path / "trajcredit" / "migrations", tmp_path / "migrations"
    above.mkdir()
    assert migrate.folder(tmp_path / "trajcredit") == above
    beside.mkdir(parents=True)
    assert migrate.folder(tmp_path / "trajcredit") == beside


def shape(conn: Connection) -> dict[str, Any]:
    """Everything a database says of its tables."""
    look = inspect(conn)
    found: dict[str, Any] = {}
    for name in tables.metadata.tables:
        columns = [{**column, "type": str(column["type"])} for column in look.get_columns(name)]
        details = (
            look.get_pk_constraint(name)["constrained_columns"],
            sorted(look.get_foreign_keys(name), key=str),
            sorted(look.get_unique_constraints(name), key=str),
            sorted(look.get_check_constraints(name), key=str),
            sorted(re.sub(r"0x\w+", "", str(index)) for index in look.get_indexes(name)),
        )
        found[name] = (columns, *details)
    return found


def sqlite_shape(conn: Connection) -> dict[str, str]:
    """The statements that made it, without quotes, spaces and line breaks."""
    rows = conn.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: re.sub(r'[\s"]', "", sql) for name, sql in rows if name != migrate.VERSION_TABLE}


@pytest.mark.parametrize("kind", BOTH)
def test_the_tables_of_the_code_are_those_that_migrations_make(kind: str, tmp_path: Path) -> None:
    for migrated, made in zip(new_url(kind, tmp_path), new_url(kind, tmp_path, template=False), strict=True):
        with engine(made).begin() as conn:
            tables.metadata.create_all(conn)
            expected, exactly = shape(conn), sqlite_shape(conn) if kind == "sqlite" else {}
        with open_store(migrated), engine(migrated).begin() as conn:
            assert shape(conn) == expected
            assert (sqlite_shape(conn) if kind == "sqlite" else {}) == exactly


@pytest.mark.parametrize("kind", BOTH)
def test_the_models_that_old_documents_name_are_read(kind: str, tmp_path: Path) -> None:
    """0002; a document that cannot be read names none, and stays as it is for `db check` to tell."""
    for url in old_database(kind, "0001", tmp_path):
        with engine(url).begin() as conn:
            found = conn.execute(text("SELECT trajectory, line FROM documents ORDER BY trajectory")).all()
            named = replace(decode(logs.decompress(bytes(found[1].line))), model="gpt-5\U0001f600")
            for row, line in ((found[0], b"broken"), (found[1], logs.compress([encode(named)])[0])):
                changed = text("UPDATE documents SET line = :line WHERE trajectory = :key")
                conn.execute(changed, {"line": line, "key": row.trajectory})
        with open_store(url) as store, store.read() as conn:
            models = conn.scalars(select(tables.trajectories.c.model).order_by(tables.trajectories.c.key)).all()
            assert models == [None, "gpt-5\U0001f600", None, None]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("version", [version for version in OLD if version < "0003"])
def test_runs_of_old_versions_asked_no_critic(kind: str, version: str, tmp_path: Path) -> None:
    """0003."""
    for url in old_database(kind, version, tmp_path):
        with open_store(url) as store, store.read() as conn:
            found = conn.execute(select(tables.runs.c.critic, tables.runs.c.critic_fingerprint)).all()
            assert [tuple(row) for row in found] == [(None, None)]
            assert set(conn.scalars(select(tables.credit_rows.c.forecasts))) == {None}
