"""What columns of the database are made of: clean text, exact numbers, keys, and who owns a row."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Integer,
    Text,
    TypeDecorator,
)
from sqlalchemy.types import UserDefinedType

from trajcredit.store.border import clean

__all__ = ["CleanText", "Exact", "Key", "Number", "finite", "owner", "unchecked_owner"]


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


def finite(column: str) -> CheckConstraint:
    """Neither NaN, which PostgreSQL would store, nor infinity, which both would."""
    return CheckConstraint(f"abs({column}) <= 1.7976931348623157e308", name=f"{column}_is_finite")


def owner() -> Column[int]:
    """The trajectory a row belongs to, and goes with."""
    return Column("trajectory", Key, ForeignKey("trajectories.key", ondelete="CASCADE"), nullable=False)


def unchecked_owner() -> Column[int]:
    """Without a foreign key: looking it up took half the time of adding spans and edges on PostgreSQL."""
    return Column("trajectory", Key, nullable=False)
