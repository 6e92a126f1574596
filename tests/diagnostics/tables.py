"""Tables written by hand, without transcripts: a row is a dictionary of the facts that matter to a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from trajcredit.diagnostics import Seen, Table, Verdict, order_of
from trajcredit.diagnostics.catalog import MODES
from trajcredit.diagnostics.form import FEATURES
from trajcredit.diagnostics.sampled import Sampled

__all__ = ["detect", "permuted", "row", "table"]

NAN = float("nan")


def row(task: int = 0, **facts: Any) -> dict[str, Any]:
    """Facts of one trajectory: fields of Table by name, of Seen and Sampled too; what is not given is not logged."""
    return {"task": task, "group": task, **facts}


def table(*rows: dict[str, Any], **whole: Any) -> Table:
    """The table of rows; `whole`: fields of all of it."""

    def column(name: str, missing: float) -> Any:
        return np.array([one.get(name, missing) for one in rows])

    seen = tuple(_seen(one) for one in rows)
    size = column("credited", NAN).astype(np.float64)
    off = column("off_path", 0.0).astype(np.float64)
    fields = {
        "seen": seen,
        "group": column("group", 0).astype(np.int64),
        "task": column("task", 0).astype(np.int64),
        "scale": order_of(seen),
        "outcome": column("outcome", NAN).astype(np.float64),
        "pass_at": 0.5,
        "proxy": column("proxy", NAN).astype(np.float64),
        "trusted": column("trusted", NAN).astype(np.float64),
        "proxy_name": "reward_model" if any("proxy" in one for one in rows) else None,
        "trusted_name": "human" if any("trusted" in one for one in rows) else None,
        "early": column("early", False).astype(bool),
        "off_path": off,
        "credited": size,
        "off_calls": off,
        "credited_calls": np.nan_to_num(size),
        "flat": column("flat", True).astype(bool),
        "stray": column("stray", -1).astype(np.int64),
        "traced": column("traced", True).astype(bool),
        "attributor": "grpo",
        "calls_made": tuple(tuple(one.get("calls_made", ())) for one in rows),
    }
    return Table(**{**fields, **whole})


def detect(mode: str, rows: Sequence[dict[str, Any]], **whole: Any) -> Verdict:
    """What one detector says of the rows."""
    return MODES[mode].detect(table(*rows, **whole))


def permuted(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows in another order."""
    return [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]


def _seen(one: dict[str, Any]) -> Seen:
    sampled = Sampled(
        tokens=one.get("tokens"),
        characters=one.get("characters", 0),
        kl=one.get("kl", 0.0),
        kl_tokens=one.get("kl_tokens", 0),
        kl_odd=one.get("kl_odd", 0),
        masked=one.get("masked", 0),
    )
    version = one.get("policy_version")
    return Seen(
        task=(f"task {one['task']}", ""),
        dataset=one.get("dataset"),
        policy_version=version,
        model=one.get("model"),
        step=one.get("step"),
        versions=tuple(one.get("versions", () if version is None else (version,))),
        calls=tuple((i, "look") for i in range(one.get("calls", 0))),
        repeats=tuple(one.get("repeats", ())),
        results=one.get("results", 0),
        unused=one.get("unused", 0),
        effects=one.get("effects", 0),
        doubles=tuple(one.get("doubles", ())),
        outdated=tuple(one.get("outdated", ())),
        form=tuple(one.get("form", (0.0,) * len(FEATURES))),
        sampled=sampled,
        declared=one.get("declared", False),
        instructed=one.get("instructed", False),
        broken=one.get("broken", 0),
        told_broken=one.get("told_broken", 0),
        terminal=True,
    )
