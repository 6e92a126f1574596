"""What one writes first: pydantic models, substring search for what calls use, networkx, one ORM object a row.

It does less than we do (no normal forms, no rules but verbatim values, no evidence), and its outcome is the same where
both say something: advantages of `grpo` are compared before anything is timed.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import numpy as np
from pydantic import AliasChoices, BaseModel, Field, TypeAdapter
from sqlalchemy import ForeignKey, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

__all__ = ["advantages"]

SHORTEST = 3
"""Characters of a value that is looked for."""


class Function(BaseModel):
    """What a call names."""

    name: str
    arguments: str


class ToolCall(BaseModel):
    """A call of a message."""

    id: str
    function: Function


class Message(BaseModel):
    """A message of a chat."""

    role: str
    content: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None


class Row(BaseModel):
    """A run of tau-bench, or an OpenAI chat."""

    group: str | int | None = Field(None, validation_alias=AliasChoices("task_id", "group_id"))
    reward: float
    messages: list[Message] = Field(validation_alias=AliasChoices("traj", "messages"))


class Base(DeclarativeBase):
    """Tables of this build."""


class StoredRun(Base):
    """A run."""

    __tablename__ = "runs"
    id: Mapped[int] = mapped_column(primary_key=True)
    group: Mapped[str]
    reward: Mapped[float]


class StoredSpan(Base):
    """One message or call, and its credit."""

    __tablename__ = "spans"
    id: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    place: Mapped[int]
    kind: Mapped[str]
    text: Mapped[str]
    credit: Mapped[float | None]


class StoredEdge(Base):
    """One use."""

    __tablename__ = "edges"
    id: Mapped[int] = mapped_column(primary_key=True)
    run: Mapped[int] = mapped_column(ForeignKey("runs.id"))
    child: Mapped[int]
    parent: Mapped[int]


def advantages(raw: bytes) -> list[float]:
    """Read, find edges, score and store a log in a new SQLite file; the `grpo` advantage of every run."""
    rows = TypeAdapter(list[Row]).validate_json(raw)
    found = _grpo(rows)
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{Path(folder) / 'store.db'}")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            for number, (row, advantage) in enumerate(zip(rows, found, strict=True)):
                spans = list(_spans(row.messages))
                graph = _graph(spans)
                last = max(k for k, (kind, _) in enumerate(spans) if kind in ("assistant", "call"))
                used = networkx.ancestors(graph, last) | {last}
                session.add(StoredRun(id=number, group=str(row.group), reward=row.reward))
                for place, (kind, text) in enumerate(spans):
                    acted = kind in ("assistant", "call")
                    credit = advantage * (place in used) if acted else None
                    session.add(StoredSpan(run=number, place=place, kind=kind, text=text, credit=credit))
                for parent, child in graph.edges:
                    session.add(StoredEdge(run=number, child=child, parent=parent))
            session.commit()
        engine.dispose()
    return found


def _grpo(rows: list[Row]) -> list[float]:
    groups: dict[Any, list[float]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row.reward)
    found = []
    for row in rows:
        rewards = groups[row.group]
        spread = np.std(rewards, ddof=1) if len(rewards) > 1 else 0.0
        found.append(float((row.reward - np.mean(rewards)) / (spread + 1e-6)))
    return found


def _spans(messages: list[Message]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if message.content:
            yield message.role, message.content
        for call in message.tool_calls or ():
            yield "call", call.function.arguments


def _graph(spans: list[tuple[str, str]]) -> Any:
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(spans)))
    for child, (kind, text) in enumerate(spans):
        if kind != "call":
            continue
        for value in _leaves(json.loads(text)):
            showing = [k for k in range(child) if spans[k][0] in ("user", "tool") and value in spans[k][1]]
            graph.add_edges_from((parent, child) for parent in showing[:1] + showing[-1:])
    return graph


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, str | int | float) and len(str(value)) >= SHORTEST:
        yield str(value)
