"""The routes of the API, one noun a file: read input, call one verb of `service`, shape output."""

from __future__ import annotations

from trajcredit.api.routes import finding, plugins, rewards, run_events, runs, site, trajectories, uploads

__all__ = ["API", "SITE"]

API = (
    uploads.router,
    trajectories.router,
    finding.router,
    rewards.router,
    runs.router,
    run_events.router,
    plugins.router,
)
SITE = (plugins.health, site.router)
