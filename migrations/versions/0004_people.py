"""What people say: labels of spans, and edges they add or remove. Both are appended to and never rewritten.

The index of groups has the outcomes too: how each group of a project ended is read from it alone.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LARGEST = "1.7976931348623157e308"


def upgrade() -> None:
    """Two empty tables, a wider index, and of every run the newest override that it could see."""
    op.drop_index("trajectories_by_group", "trajectories")
    op.create_index("trajectories_by_group", "trajectories", ["project", "group_key", "outcome_source", "outcome"])
    op.add_column("runs", sa.Column("override_watermark", sa.BigInteger()))
    op.create_table(
        "labels",
        sa.Column("id", KEY, sa.Identity(), primary_key=True),
        sa.Column("project", TEXT, nullable=False),
        sa.Column("trajectory", KEY, sa.ForeignKey("trajectories.key", ondelete="CASCADE"), nullable=False),
        sa.Column("span", sa.Integer(), nullable=False),
        sa.Column("verdict", TEXT),
        sa.Column("labeller", TEXT, nullable=False),
        sa.Column("note", TEXT),
        sa.Column("blind", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Float(53)),
        sa.Column("queue", TEXT),
        sa.Column("at", TEXT, nullable=False),
        sa.CheckConstraint("verdict in ('culprit', 'contributed', 'innocent', 'unsure')", name="verdict_is_known"),
        sa.CheckConstraint(f"abs(seconds) <= {LARGEST}", name="seconds_is_finite"),
        sqlite_autoincrement=True,
    )
    op.create_index("labels_by_trajectory", "labels", ["trajectory", "span", "labeller", "at", "id"])
    op.create_index("labels_by_project", "labels", ["project", "id"])
    op.create_table(
        "overrides",
        sa.Column("id", KEY, sa.Identity(), primary_key=True),
        sa.Column("project", TEXT, nullable=False),
        sa.Column("trajectory", KEY, sa.ForeignKey("trajectories.key", ondelete="CASCADE"), nullable=False),
        sa.Column("parent", sa.Integer(), nullable=False),
        sa.Column("child", sa.Integer(), nullable=False),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("person", TEXT, nullable=False),
        sa.Column("at", TEXT, nullable=False),
        sa.CheckConstraint("action in ('add', 'remove', 'withdraw')", name="action_is_known"),
        sqlite_autoincrement=True,
    )
    op.create_index("overrides_by_trajectory", "overrides", ["trajectory", "id"])
