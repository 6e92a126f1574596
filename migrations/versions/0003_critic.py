"""What a critic said to a run: its name and fingerprint with the run, its columns beside every credit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Three columns that are null in all there is: no run had a critic."""
    op.add_column("runs", sa.Column("critic", TEXT))
    op.add_column("runs", sa.Column("critic_fingerprint", TEXT))
    op.add_column("credits", sa.Column("forecasts", sa.LargeBinary()))
