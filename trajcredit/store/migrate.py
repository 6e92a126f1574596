"""The version of a database, and the way from an older one to ours: Alembic's numbered files in `migrations/`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from trajcredit.errors import StoreError
from trajcredit.store.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["VERSION_TABLE", "folder", "pending", "upgrade", "version", "versions"]

VERSION_TABLE = "trajcredit_version"


def folder(package: Path = Path(__file__).parent.parent) -> Path:
    """Where the migrations are: in a wheel inside the package, in a source checkout beside it."""
    return next(place for place in (package / "migrations", package.parent / "migrations") if place.is_dir())


def versions(migrations: Path) -> list[str]:
    """Every version there is a migration to, oldest first: the numbers their files begin with."""
    return sorted(file.name.partition("_")[0] for file in (migrations / "versions").glob("[0-9]*.py"))


def version(conn: Connection) -> str | None:
    """The version of the database; null where it is empty."""
    if not inspect(conn).has_table(VERSION_TABLE):
        return None
    found: str | None = conn.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608  # a constant
    return found


def pending(conn: Connection, name: str, migrations: Path) -> bool:
    """Whether the database is older than this program; StoreError where it is newer, or not ours."""
    found, known = version(conn), versions(migrations)
    if found is None:
        taken = sorted(set(inspect(conn).get_table_names()) & set(metadata.tables))
        if taken:
            raise StoreError(f"{name} has tables of these names already, and not from trajcredit: {', '.join(taken)}")
    elif found not in known:
        raise StoreError(
            f"{name} has version {found}, and this trajcredit knows versions up to {known[-1]}: install a newer one"
        )
    return found != known[-1]


def upgrade(conn: Connection, migrations: Path, to: str = "head") -> None:
    """Run what is missing in the transaction of `conn`: all of it or, where it fails, nothing."""
    from alembic import command

    command.upgrade(_config(conn, migrations), to)
    if conn.dialect.name == "sqlite":
        broken = conn.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise StoreError(f"the upgrade would leave rows without the row they belong to: {broken[:3]}")


def _config(conn: Connection, migrations: Path) -> Config:
    from alembic.config import Config

    config = Config(attributes={"connection": conn})
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_table", VERSION_TABLE)
    return config
