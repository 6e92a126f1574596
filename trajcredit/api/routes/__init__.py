"""The routes of the API, one noun a file: read input, call one verb of `service`, shape output."""

from __future__ import annotations

from trajcredit.api.routes import (
    dashboard,
    diagnostics,
    edges,
    finding,
    groups,
    judgings,
    labels,
    plugins,
    rewards,
    run_events,
    runs,
    site,
    trajectories,
    uploads,
)

__all__ = ["API", "SITE"]

API = (
    uploads.router,
    trajectories.router,
    finding.router,
    groups.router,
    edges.router,
    rewards.router,
    labels.router,
    runs.router,
    run_events.router,
    judgings.router,
    dashboard.router,
    diagnostics.router,
    plugins.router,
)
SITE = (plugins.health, site.router)
