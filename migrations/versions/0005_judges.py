"""What judges say: jobs that ask them, one packed opinion a trajectory, and answers that were paid for.

A run that hears a judge records which one, and a hash of all that it heard.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LARGEST = "1.7976931348623157e308"
STATES = "'queued', 'running', 'done', 'incomplete', 'failed', 'cancelled'"


def upgrade() -> None:
    """Three empty tables, two empty columns of runs."""
    op.add_column("runs", sa.Column("judge", TEXT))
    op.add_column("runs", sa.Column("judge_fingerprint", TEXT))
    op.create_table(
        "judge_cache",
        sa.Column("key", TEXT, nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.Column("created", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "judgings",
        sa.Column("key", KEY, sa.Identity(), primary_key=True),
        sa.Column("id", TEXT, nullable=False, unique=True),
        sa.Column("project", TEXT, nullable=False),
        sa.Column("judge", TEXT, nullable=False),
        sa.Column("label", TEXT, nullable=False),
        sa.Column("parameters", TEXT, nullable=False),
        sa.Column("filters", TEXT, nullable=False),
        sa.Column("scale", TEXT, nullable=False),
        sa.Column("segments", TEXT, nullable=False),
        sa.Column("code_version", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("total", sa.Integer()),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("requests", sa.BigInteger(), nullable=False),
        sa.Column("retries", sa.BigInteger(), nullable=False),
        sa.Column("cached", sa.BigInteger(), nullable=False),
        sa.Column("uncounted", sa.BigInteger(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Float(53), nullable=False),
        sa.Column("model", TEXT),
        sa.Column("prompt_version", TEXT),
        sa.Column("fingerprint", TEXT),
        sa.Column("error", TEXT),
        sa.Column("created", TEXT, nullable=False),
        sa.Column("started", TEXT),
        sa.Column("finished", TEXT),
        sa.CheckConstraint(f"state in ({STATES})", name="state_is_known"),
        sa.CheckConstraint(f"abs(cost) <= {LARGEST}", name="cost_is_finite"),
        sqlite_autoincrement=True,
    )
    op.create_index("judgings_by_project", "judgings", ["project", "key"])
    op.create_index("judgings_by_state", "judgings", ["state", "key"])
    op.create_table(
        "opinions",
        sa.Column("judging", KEY, sa.ForeignKey("judgings.key", ondelete="CASCADE"), nullable=False),
        sa.Column("trajectory", KEY, sa.ForeignKey("trajectories.key", ondelete="CASCADE"), nullable=False),
        sa.Column("missing", TEXT),
        sa.Column("line", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("judging", "trajectory"),
    )
    op.create_index("opinions_by_trajectory", "opinions", ["trajectory"])
