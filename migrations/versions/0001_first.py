"""The first tables; docs/store.md says what each is for."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import UserDefinedType

revision = "0001"
down_revision = None


class Unconverted(UserDefinedType[float]):
    """Numbers as they are: a SQLite column of type REAL keeps -0.0 as 0, one declared BLOB converts nothing."""

    cache_ok = True

    def get_col_spec(self, **kw: Any) -> str:
        """In CREATE TABLE."""
        return "BLOB"


TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NUMBER = sa.Float(53)
EXACT = sa.Float(53).with_variant(Unconverted(), "sqlite")
INT = sa.Integer()
BIG = sa.BigInteger()
FLAG = sa.SmallInteger()
BOOL = sa.Boolean()
BLOB = sa.LargeBinary()
BLOBS = [
    ("logs", "data"),
    ("documents", "line"),
    ("packed", "columns"),
    ("packed", "evidence"),
    ("credits", "credit"),
    ("credits", "advantage"),
]


def upgrade() -> None:
    """Make every table."""
    _logs_and_trajectories()
    _spans_and_edges()
    _rewards()
    _runs()
    _credits()
    op.create_table(
        "idempotency",
        _given("project", TEXT),
        _given("key", TEXT),
        _given("request_sha256", TEXT),
        _given("response", BLOB),
        _given("created", TEXT),
        sa.PrimaryKeyConstraint("project", "key"),
    )
    _leave_blobs_alone()


def _leave_blobs_alone() -> None:
    """PostgreSQL would compress them once more, which takes twice as long as all the rest of storing a trajectory."""
    if op.get_bind().dialect.name == "postgresql":
        for table, column in BLOBS:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


def _logs_and_trajectories() -> None:
    op.create_table(
        "logs",
        _given("project", TEXT),
        _given("sha256", TEXT),
        _given("data", BLOB),
        _given("size", BIG),
        _maybe("name", TEXT),
        _maybe("format", TEXT),
        _given("received", TEXT),
        sa.PrimaryKeyConstraint("project", "sha256"),
    )
    op.create_table(
        "trajectories",
        sa.Column("key", KEY, primary_key=True, autoincrement=False),
        sa.Column("id", TEXT, nullable=False, unique=True),
        _given("project", TEXT),
        _given("external_id", TEXT),
        _given("content_sha256", TEXT),
        _maybe("raw_sha256", TEXT),
        _maybe("record", BIG),
        _maybe("dataset", TEXT),
        _maybe("task", TEXT),
        _maybe("role", TEXT),
        _maybe("own_group", TEXT),
        _given("group_key", TEXT),
        _given("group_name", TEXT),
        _maybe("trial", TEXT),
        _maybe("step", BIG),
        _maybe("policy_version", TEXT),
        _maybe("terminated", BOOL),
        _maybe("truncated", BOOL),
        _maybe("bootstrap", EXACT),
        _maybe("answer", TEXT),
        _maybe("parent_trajectory", TEXT),
        _maybe("parent_span", BIG),
        _given("n_spans", INT),
        _given("n_actions", INT),
        _given("n_errors", INT),
        _given("n_edges", INT),
        _maybe("n_tokens", BIG),
        _maybe("outcome", NUMBER),
        _maybe("outcome_source", TEXT),
        _given("report", TEXT),
        _maybe("source", TEXT),
        _given("created", TEXT),
        sa.UniqueConstraint("project", "external_id"),
        sa.ForeignKeyConstraint(["project", "raw_sha256"], ["logs.project", "logs.sha256"]),
        _finite("bootstrap"),
        _finite("outcome"),
    )
    op.create_index("trajectories_by_project", "trajectories", ["project", "key"])
    op.create_index("trajectories_by_group", "trajectories", ["project", "group_key"])
    op.create_index("trajectories_by_log", "trajectories", ["project", "raw_sha256"])
    op.create_table("documents", _owner(), _given("line", BLOB), sa.PrimaryKeyConstraint("trajectory"))
    op.create_table(
        "packed",
        _owner(),
        _given("tools", TEXT),
        _given("columns", BLOB),
        _given("evidence", BLOB),
        sa.PrimaryKeyConstraint("trajectory"),
    )


def _spans_and_edges() -> None:
    op.create_table(
        "spans",
        _given("trajectory", KEY),
        _given("span", INT),
        _given("kind", TEXT),
        _given("turn", BIG),
        _maybe("tool", TEXT),
        _given("is_action", FLAG),
        _given("is_write", FLAG),
        _given("is_error", FLAG),
        _given("size", INT),
        sa.PrimaryKeyConstraint("trajectory", "span"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tool_use",
        _given("project", TEXT),
        _given("tool", TEXT),
        _given("trajectory", KEY),
        _given("calls", INT),
        _given("errors", INT),
        sa.PrimaryKeyConstraint("project", "tool", "trajectory"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "edges",
        _given("trajectory", KEY),
        _given("child", INT),
        _given("parent", INT),
        _given("kind", TEXT),
        _given("weight", NUMBER),
        _given("rule", TEXT),
        sa.PrimaryKeyConstraint("trajectory", "child", "parent"),
        sqlite_with_rowid=False,
    )


def _rewards() -> None:
    op.create_table(
        "rewards",
        sa.Column("id", KEY, sa.Identity(), primary_key=True),
        _given("project", TEXT),
        _owner(),
        _maybe("span", INT),
        _given("value", EXACT),
        _given("source", TEXT),
        _maybe("name", TEXT),
        _maybe("at", TEXT),
        _given("received", TEXT),
        _finite("value"),
        sqlite_autoincrement=True,
    )
    op.create_index("rewards_by_trajectory", "rewards", ["trajectory", "id"])
    op.create_index("rewards_by_project", "rewards", ["project", "id"])


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("key", KEY, sa.Identity(), primary_key=True),
        sa.Column("id", TEXT, nullable=False, unique=True),
        _given("project", TEXT),
        _given("attributor", TEXT),
        _given("label", TEXT),
        _given("parameters", TEXT),
        _given("code_version", TEXT),
        _given("edge_version", TEXT),
        _maybe("reward_asked", TEXT),
        _maybe("reward_used", TEXT),
        _maybe("group_by", TEXT),
        _given("filters", TEXT),
        _maybe("watermark", BIG),
        _maybe("seed", BIG),
        _given("state", TEXT),
        _given("done", INT),
        _maybe("total", INT),
        _maybe("error", TEXT),
        _given("notes", TEXT),
        _maybe("stale", TEXT),
        _given("created", TEXT),
        _maybe("started", TEXT),
        _maybe("finished", TEXT),
        sa.CheckConstraint("state in ('queued', 'running', 'done', 'failed', 'cancelled')", name="state_is_known"),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_project", "runs", ["project", "key"])
    op.create_index("runs_by_state", "runs", ["state", "key"])


def _credits() -> None:
    op.create_table(
        "credits",
        _run(),
        _owner(),
        _given("group_name", TEXT),
        _given("n_scored", INT),
        _maybe("low", NUMBER),
        _maybe("low_span", INT),
        _maybe("high", NUMBER),
        _maybe("high_span", INT),
        _maybe("abs_sum", NUMBER),
        _given("credit", BLOB),
        _given("advantage", BLOB),
        sa.PrimaryKeyConstraint("run", "trajectory"),
        _finite("low"),
        _finite("high"),
        _finite("abs_sum"),
    )
    op.create_index("credits_by_trajectory", "credits", ["trajectory"])
    op.create_table(
        "run_tools",
        _run(),
        _given("tool", TEXT),
        _given("calls", BIG),
        _given("scored", BIG),
        _maybe("credit", NUMBER),
        _maybe("negative", NUMBER),
        _given("errors", BIG),
        sa.PrimaryKeyConstraint("run", "tool"),
        _finite("credit"),
        _finite("negative"),
    )


def _given(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _maybe(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Column[Any]:
    return sa.Column(name, kind)


def _owner() -> sa.Column[int]:
    return sa.Column("trajectory", KEY, sa.ForeignKey("trajectories.key", ondelete="CASCADE"), nullable=False)


def _run() -> sa.Column[int]:
    return sa.Column("run", KEY, sa.ForeignKey("runs.key", ondelete="CASCADE"), nullable=False)


def _finite(column: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"abs({column}) <= 1.7976931348623157e308", name=f"{column}_is_finite")
