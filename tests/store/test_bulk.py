"""Many rows at once: as many as there are, whatever fits one statement."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from trajcredit.store import Store, bulk, tables

COLUMNS = ("project", "tool", "trajectory", "calls", "errors")
AT_ONCE = bulk.PARAMETERS // len(COLUMNS)


@pytest.mark.parametrize("count", [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE, 3 * AT_ONCE + 7])
def test_every_row_arrives_once_in_its_columns(store: Store, count: int) -> None:
    rows = [("p", f"tool {n:05} '\U0001f600", n, 2 * n, 3 * n) for n in range(count)]
    with store.write() as conn:
        bulk.insert_many(conn, tables.tool_use, COLUMNS, iter(rows))
        found = conn.execute(select(*(tables.tool_use.c[name] for name in COLUMNS)).order_by(tables.tool_use.c.tool))
        assert [tuple(row) for row in found] == rows
