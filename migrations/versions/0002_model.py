"""Which model answered, of every trajectory: read from the documents that are there."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa
import zstandard
from alembic import op

revision = "0002"
down_revision = "0001"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
AT_ONCE = 500
"""Documents that are in memory at a time."""

trajectories = sa.table("trajectories", sa.column("key", KEY), sa.column("model", TEXT))
documents = sa.table("documents", sa.column("trajectory", KEY), sa.column("line", sa.LargeBinary()))


class Named(msgspec.Struct):
    """What is read of a document."""

    model: str | None = None


def upgrade() -> None:
    """The column, then its values."""
    op.add_column("trajectories", sa.Column("model", TEXT))
    conn, last = op.get_bind(), 0
    which = documents.c.trajectory
    while rows := conn.execute(sa.select(documents).where(which > last).order_by(which).limit(AT_ONCE)).all():
        named = [{"of": row.trajectory, "model": model} for row in rows if (model := model_of(row.line)) is not None]
        if named:
            conn.execute(sa.update(trajectories).where(trajectories.c.key == sa.bindparam("of")), named)
        last = rows[-1].trajectory


def model_of(frame: bytes) -> str | None:
    """The model that a document names; null too where it cannot be read, which `db check` says."""
    try:
        return msgspec.json.decode(zstandard.ZstdDecompressor().decompress(frame), type=Named).model
    except (zstandard.ZstdError, msgspec.MsgspecError):
        return None
