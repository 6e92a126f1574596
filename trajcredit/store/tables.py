"""Columns and constraints of the database, the same on SQLite and PostgreSQL; docs/store.md says what each is for."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.types import UserDefinedType

from trajcredit.store.border import clean

__all__ = [
    "credit_rows",
    "documents",
    "edges",
    "idempotency",
    "judge_cache",
    "judgings",
    "labels",
    "logs",
    "metadata",
    "opinions",
    "overrides",
    "packed",
    "rewards",
    "run_tools",
    "runs",
    "spans",
    "tool_use",
    "trajectories",
]


class CleanText(TypeDecorator[str]):
    """Text that loses NUL and half surrogate pairs on the way in, compared byte by byte on both databases."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        """On PostgreSQL the collation that orders as SQLite does."""
        return Text(collation="C") if dialect.name == "postgresql" else Text()

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Clean what is bound."""
        return None if value is None else clean(value)


class Unconverted(UserDefinedType[float]):
    """Numbers as they are: a SQLite column of type REAL keeps -0.0 as 0, one declared BLOB converts nothing."""

    cache_ok = True

    def get_col_spec(self, **kw: Any) -> str:
        """In CREATE TABLE."""
        return "BLOB"


Number = Float(53)
Exact = Float(53).with_variant(Unconverted(), "sqlite")
"""A float that comes back bit for bit."""
Key = BigInteger().with_variant(Integer(), "sqlite")
"""What rows of one database refer to each other by; it never leaves the folder."""

metadata = MetaData()


def _finite(column: str) -> CheckConstraint:
    """Neither NaN, which PostgreSQL would store, nor infinity, which both would."""
    return CheckConstraint(f"abs({column}) <= 1.7976931348623157e308", name=f"{column}_is_finite")


def _owner() -> Column[int]:
    return Column("trajectory", Key, ForeignKey("trajectories.key", ondelete="CASCADE"), nullable=False)


def _unchecked_owner() -> Column[int]:
    """Without a foreign key: looking it up took half the time of adding spans and edges on PostgreSQL."""
    return Column("trajectory", Key, nullable=False)


logs = Table(
    "logs",
    metadata,
    Column("project", CleanText, nullable=False),
    Column("sha256", CleanText, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("name", CleanText),
    Column("format", CleanText),
    Column("received", CleanText, nullable=False),
    PrimaryKeyConstraint("project", "sha256"),
)

trajectories = Table(
    "trajectories",
    metadata,
    Column("key", Key, primary_key=True, autoincrement=False),
    Column("id", CleanText, nullable=False, unique=True),
    Column("project", CleanText, nullable=False),
    Column("external_id", CleanText, nullable=False),
    Column("content_sha256", CleanText, nullable=False),
    Column("raw_sha256", CleanText),
    Column("record", BigInteger),
    Column("dataset", CleanText),
    Column("task", CleanText),
    Column("role", CleanText),
    Column("own_group", CleanText),
    Column("group_key", CleanText, nullable=False),
    Column("group_name", CleanText, nullable=False),
    Column("trial", CleanText),
    Column("step", BigInteger),
    Column("policy_version", CleanText),
    Column("terminated", Boolean),
    Column("truncated", Boolean),
    Column("bootstrap", Exact),
    Column("answer", CleanText),
    Column("parent_trajectory", CleanText),
    Column("parent_span", BigInteger),
    Column("n_spans", Integer, nullable=False),
    Column("n_actions", Integer, nullable=False),
    Column("n_errors", Integer, nullable=False),
    Column("n_edges", Integer, nullable=False),
    Column("n_tokens", BigInteger),
    Column("outcome", Number),
    Column("outcome_source", CleanText),
    Column("report", CleanText, nullable=False),
    Column("source", CleanText),
    Column("created", CleanText, nullable=False),
    Column("model", CleanText),
    UniqueConstraint("project", "external_id"),
    ForeignKeyConstraint(["project", "raw_sha256"], ["logs.project", "logs.sha256"]),
    _finite("bootstrap"),
    _finite("outcome"),
    Index("trajectories_by_project", "project", "key"),
    Index("trajectories_by_group", "project", "group_key", "outcome_source", "outcome"),
    Index("trajectories_by_log", "project", "raw_sha256"),
)

documents = Table(
    "documents",
    metadata,
    _owner(),
    Column("line", LargeBinary, nullable=False),
    PrimaryKeyConstraint("trajectory"),
)

packed = Table(
    "packed",
    metadata,
    _owner(),
    Column("tools", CleanText, nullable=False),
    Column("columns", LargeBinary, nullable=False),
    Column("evidence", LargeBinary, nullable=False),
    PrimaryKeyConstraint("trajectory"),
)

spans = Table(
    "spans",
    metadata,
    _unchecked_owner(),
    Column("span", Integer, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("turn", BigInteger, nullable=False),
    Column("tool", CleanText),
    Column("is_action", SmallInteger, nullable=False),
    Column("is_write", SmallInteger, nullable=False),
    Column("is_error", SmallInteger, nullable=False),
    Column("size", Integer, nullable=False),
    PrimaryKeyConstraint("trajectory", "span"),
    sqlite_with_rowid=False,
)

tool_use = Table(
    "tool_use",
    metadata,
    Column("project", CleanText, nullable=False),
    Column("tool", CleanText, nullable=False),
    _unchecked_owner(),
    Column("calls", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    PrimaryKeyConstraint("project", "tool", "trajectory"),
    sqlite_with_rowid=False,
)

edges = Table(
    "edges",
    metadata,
    _unchecked_owner(),
    Column("child", Integer, nullable=False),
    Column("parent", Integer, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("weight", Number, nullable=False),
    Column("rule", CleanText, nullable=False),
    PrimaryKeyConstraint("trajectory", "child", "parent"),
    sqlite_with_rowid=False,
)

rewards = Table(
    "rewards",
    metadata,
    Column("id", Key, Identity(), primary_key=True),
    Column("project", CleanText, nullable=False),
    _owner(),
    Column("span", Integer),
    Column("value", Exact, nullable=False),
    Column("source", CleanText, nullable=False),
    Column("name", CleanText),
    Column("at", CleanText),
    Column("received", CleanText, nullable=False),
    _finite("value"),
    Index("rewards_by_trajectory", "trajectory", "id"),
    Index("rewards_by_project", "project", "id"),
    sqlite_autoincrement=True,
)

runs = Table(
    "runs",
    metadata,
    Column("key", Key, Identity(), primary_key=True),
    Column("id", CleanText, nullable=False, unique=True),
    Column("project", CleanText, nullable=False),
    Column("attributor", CleanText, nullable=False),
    Column("label", CleanText, nullable=False),
    Column("parameters", CleanText, nullable=False),
    Column("code_version", CleanText, nullable=False),
    Column("edge_version", CleanText, nullable=False),
    Column("reward_asked", CleanText),
    Column("reward_used", CleanText),
    Column("group_by", CleanText),
    Column("filters", CleanText, nullable=False),
    Column("watermark", BigInteger),
    Column("seed", BigInteger),
    Column("state", CleanText, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer),
    Column("error", CleanText),
    Column("notes", CleanText, nullable=False),
    Column("stale", CleanText),
    Column("created", CleanText, nullable=False),
    Column("started", CleanText),
    Column("finished", CleanText),
    Column("critic", CleanText),
    Column("critic_fingerprint", CleanText),
    Column("override_watermark", BigInteger),
    Column("judge", CleanText),
    Column("judge_fingerprint", CleanText),
    CheckConstraint("state in ('queued', 'running', 'done', 'failed', 'cancelled')", name="state_is_known"),
    Index("runs_by_project", "project", "key"),
    Index("runs_by_state", "state", "key"),
    sqlite_autoincrement=True,
)

credit_rows = Table(
    "credits",
    metadata,
    Column("run", Key, ForeignKey("runs.key", ondelete="CASCADE"), nullable=False),
    _owner(),
    Column("group_name", CleanText, nullable=False),
    Column("n_scored", Integer, nullable=False),
    Column("low", Number),
    Column("low_span", Integer),
    Column("high", Number),
    Column("high_span", Integer),
    Column("abs_sum", Number),
    Column("credit", LargeBinary, nullable=False),
    Column("advantage", LargeBinary, nullable=False),
    Column("forecasts", LargeBinary),
    PrimaryKeyConstraint("run", "trajectory"),
    _finite("low"),
    _finite("high"),
    _finite("abs_sum"),
    Index("credits_by_trajectory", "trajectory"),
)

run_tools = Table(
    "run_tools",
    metadata,
    Column("run", Key, ForeignKey("runs.key", ondelete="CASCADE"), nullable=False),
    Column("tool", CleanText, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("scored", BigInteger, nullable=False),
    Column("credit", Number),
    Column("negative", Number),
    Column("errors", BigInteger, nullable=False),
    PrimaryKeyConstraint("run", "tool"),
    _finite("credit"),
    _finite("negative"),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("project", CleanText, nullable=False),
    Column("key", CleanText, nullable=False),
    Column("request_sha256", CleanText, nullable=False),
    Column("response", LargeBinary, nullable=False),
    Column("created", CleanText, nullable=False),
    PrimaryKeyConstraint("project", "key"),
)

labels = Table(
    "labels",
    metadata,
    Column("id", Key, Identity(), primary_key=True),
    Column("project", CleanText, nullable=False),
    _owner(),
    Column("span", Integer, nullable=False),
    Column("verdict", CleanText),
    Column("labeller", CleanText, nullable=False),
    Column("note", CleanText),
    Column("blind", Boolean, nullable=False),
    Column("seconds", Number),
    Column("queue", CleanText),
    Column("at", CleanText, nullable=False),
    CheckConstraint("verdict in ('culprit', 'contributed', 'innocent', 'unsure')", name="verdict_is_known"),
    _finite("seconds"),
    Index("labels_by_trajectory", "trajectory", "span", "labeller", "at", "id"),
    Index("labels_by_project", "project", "id"),
    sqlite_autoincrement=True,
)

overrides = Table(
    "overrides",
    metadata,
    Column("id", Key, Identity(), primary_key=True),
    Column("project", CleanText, nullable=False),
    _owner(),
    Column("parent", Integer, nullable=False),
    Column("child", Integer, nullable=False),
    Column("action", CleanText, nullable=False),
    Column("reason", CleanText, nullable=False),
    Column("person", CleanText, nullable=False),
    Column("at", CleanText, nullable=False),
    CheckConstraint("action in ('add', 'remove', 'withdraw')", name="action_is_known"),
    Index("overrides_by_trajectory", "trajectory", "id"),
    sqlite_autoincrement=True,
)

judge_cache = Table(
    "judge_cache",
    metadata,
    Column("key", CleanText, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    Column("created", CleanText, nullable=False),
    PrimaryKeyConstraint("key"),
)

judgings = Table(
    "judgings",
    metadata,
    Column("key", Key, Identity(), primary_key=True),
    Column("id", CleanText, nullable=False, unique=True),
    Column("project", CleanText, nullable=False),
    Column("judge", CleanText, nullable=False),
    Column("label", CleanText, nullable=False),
    Column("parameters", CleanText, nullable=False),
    Column("filters", CleanText, nullable=False),
    Column("scale", CleanText, nullable=False),
    Column("segments", CleanText, nullable=False),
    Column("code_version", CleanText, nullable=False),
    Column("state", CleanText, nullable=False),
    Column("total", Integer),
    Column("judged", Integer, nullable=False),
    Column("missing", Integer, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("retries", BigInteger, nullable=False),
    Column("cached", BigInteger, nullable=False),
    Column("uncounted", BigInteger, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost", Number, nullable=False),
    Column("model", CleanText),
    Column("prompt_version", CleanText),
    Column("fingerprint", CleanText),
    Column("error", CleanText),
    Column("created", CleanText, nullable=False),
    Column("started", CleanText),
    Column("finished", CleanText),
    CheckConstraint(
        "state in ('queued', 'running', 'done', 'incomplete', 'failed', 'cancelled')", name="state_is_known"
    ),
    _finite("cost"),
    Index("judgings_by_project", "project", "key"),
    Index("judgings_by_state", "state", "key"),
    sqlite_autoincrement=True,
)

opinions = Table(
    "opinions",
    metadata,
    Column("judging", Key, ForeignKey("judgings.key", ondelete="CASCADE"), nullable=False),
    _owner(),
    Column("missing", CleanText),
    Column("line", LargeBinary, nullable=False),
    PrimaryKeyConstraint("judging", "trajectory"),
    Index("opinions_by_trajectory", "trajectory"),
)
