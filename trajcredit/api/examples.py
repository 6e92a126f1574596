"""Answers as they look, for the OpenAPI document. The framework would drop their nulls, which mean something."""

from __future__ import annotations

from typing import Any

__all__ = ["ANSWERS"]

LIST = {
    "items": [
        {
            "id": "019a4f3e-7c1b-7000-8000-0123456789ab",
            "external_id": "t-1",
            "group": "g-1",
            "group_id": "5f0c3f1d9a7b4e2286c1d0e9b8a7f645",
            "group_size": 4,
            "group_scored": 4,
            "group_passed": 2,
            "group_mean": 0.5,
            "group_difference": -0.5,
            "dataset": "runs.jsonl",
            "task": "book LHR-CDG",
            "trial": None,
            "step": 120,
            "policy_version": "v7",
            "model": "gpt-4o",
            "format": "openai_chat",
            "outcome": 0.0,
            "n_spans": 14,
            "n_actions": 6,
            "n_errors": 1,
            "n_tokens": 2134,
            "n_notes": 0,
            "n_labels": 2,
            "n_overrides": 0,
            "created": "2026-04-14T18:40:12.000000Z",
            "top": {"span": 3, "name": "search_flights", "credit": -0.36},
            "strip": [None, -0.1, -0.36, -0.04],
        }
    ],
    "next": "WyItY3JlYXRlZCIsMTIsMTJd",
    "total": 212,
    "total_exact": True,
    "scale": 0.36,
    "run": "019a4f3e-8d2c-7000-8000-0123456789ab",
}
STORED = {
    "created": 1,
    "duplicate": 0,
    "replaced": 0,
    "rejected": 0,
    "conflict": 0,
    "items": [
        {
            "status": "created",
            "id": "019a4f3e-7c1b-7000-8000-0123456789ab",
            "external_id": "t-1",
            "reason": None,
            "file": "runs.jsonl",
            "line": 1,
            "report": [],
        }
    ],
}
APPENDED = {
    "appended": 1,
    "rejected": 0,
    "items": [
        {
            "status": "created",
            "id": None,
            "external_id": "t-1",
            "reason": None,
            "file": None,
            "line": 1,
            "report": [],
        }
    ],
    "stale_runs": 2,
}
RUN = {
    "id": "019a4f3e-8d2c-7000-8000-0123456789ab",
    "number": 2,
    "attributor": "dag",
    "label": "dag:gamma=0.95",
    "parameters": {"gamma": 0.95},
    "reward_source": None,
    "reward_name": None,
    "group_by": None,
    "dataset": None,
    "state": "queued",
    "done": 0,
    "total": 0,
    "error": None,
    "stale": False,
    "stale_reason": None,
    "code_version": "0.1.0+0123456789ab",
    "edge_version": "0123456789ab",
    "watermark": 0,
    "seed": None,
    "created": "2026-04-14T18:40:12.000000Z",
    "started": None,
    "finished": None,
    "notes": [],
    "critic": None,
    "critic_fingerprint": None,
    "judge": None,
    "judge_fingerprint": None,
}

ANSWERS: dict[tuple[str, str, str], Any] = {
    ("/trajectories", "get", "200"): LIST,
    ("/trajectories", "post", "200"): STORED,
    ("/rewards", "post", "200"): APPENDED,
    ("/runs", "post", "202"): RUN,
}
"""By path, method and status."""
