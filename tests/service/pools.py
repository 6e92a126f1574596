"""A pool of tasks that a critic can learn from: in each, one argument of one call decides how a rollout ends."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["pool"]


def pool(groups: int = 10, rollouts: int = 4) -> list[dict[str, Any]]:
    """Chat rows of seven spans: a request, a search, its result, words and an order, its result, an answer.

    The order that is sent `now` succeeds, the one sent `later` fails, but for every eleventh rollout, where it is the
    other way round; in every group some rollouts do either.
    """
    return [
        _rollout(g, k, now=(k + g // 2) % rollouts < 1 + g % (rollouts - 1))
        for g in range(groups)
        for k in range(rollouts)
    ]


def _rollout(group: int, number: int, now: bool) -> dict[str, Any]:
    thing, found = f"KX-{4100 + group}", f"QZ-{7300 + 11 * group}"
    return {
        "id": f"g{group}r{number}",
        "group_id": f"g{group}",
        "reward": float(now != ((7 * group + number) % 11 == 0)),
        "messages": [
            {"role": "user", "content": f"order one {thing}"},
            _calls("a", "search", {"thing": thing}),
            {"role": "tool", "tool_call_id": "a", "content": json.dumps({"offer": found, "left": 3})},
            {**_calls("b", "order", {"offer": found, "when": "now" if now else "later"}), "content": "Ordering it."},
            {"role": "tool", "tool_call_id": "b", "content": json.dumps({"placed": True})},
            {"role": "assistant", "content": f"I ordered {found}."},
        ],
    }


def _calls(name: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}
