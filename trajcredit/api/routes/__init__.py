"""The routes of the API, one noun a file: read input, call one verb of `service`, shape output."""

from __future__ import annotations

from trajcredit.api.routes import (
    dashboard,
    diagnostics,
    edges,
    groups,
    labels,
    plugins,
    rewards,
    runs,
    site,
    trajectories,
    uploads,
)

__all__ = ["API", "SITE"]

API = (
    uploads.router,
    trajectories.router,
    edges.router,
    groups.router,
    rewards.router,
    labels.router,
    runs.router,
    plugins.router,
    dashboard.router,
    diagnostics.router,
    groups.router,
)
SITE = (plugins.health, site.router)
