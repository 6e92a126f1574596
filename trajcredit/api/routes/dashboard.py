"""The dashboard, a panel a route: one that reads much holds up no other."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, Query, Response

from trajcredit.api.answers import Answer
from trajcredit.api.models.dashboard import (
    AgreementPanel,
    LengthPanel,
    OffPathPanel,
    PassPanel,
    RewardsPanel,
    ToolsPanel,
    VariancePanel,
)
from trajcredit.api.parameters import DEFAULT, LARGEST, Project, StoreDep
from trajcredit.service import dashboard, dashboard_agreement, dashboard_length, dashboard_offpath, dashboard_tools
from trajcredit.service.dashboard import Filters

__all__ = ["router"]

router = APIRouter(prefix="/dashboard")
Text: TypeAlias = Annotated[str | None, Query(max_length=1000)]
Step: TypeAlias = Annotated[int | None, Query(ge=-(2**53), le=2**53)]
Runs: TypeAlias = Annotated[
    str | None, Query(max_length=2000, description="Ids of finished runs, or attributors, joined by commas")
]


def _which(
    dataset: Text = None,
    group: Text = None,
    policy_version: Text = None,
    step_min: Step = None,
    step_max: Step = None,
) -> Filters:
    return Filters(
        dataset=dataset, group_name=group, policy_version=policy_version, step_min=step_min, step_max=step_max
    )


def _names(run: Runs = None) -> tuple[str, ...]:
    return tuple(name for name in (run or "").split(",") if name)


Which = Annotated[Filters, Depends(_which)]
Names = Annotated[tuple[str, ...], Depends(_names)]


@router.get("/rewards", response_model=RewardsPanel)
def rewards(
    store: StoreDep,
    which: Which,
    project: Project = DEFAULT,
    sort: Annotated[dashboard.Order, Query()] = "mean",
    start: Annotated[int, Query(alias="from", ge=0, le=LARGEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """Groups by mean reward, each with its rollouts."""
    return Answer(dashboard.rewards(store, project, which, sort, start, limit))


@router.get("/variance", response_model=VariancePanel)
def variance(store: StoreDep, which: Which, project: Project = DEFAULT) -> Response:
    """The share of groups with one reward throughout, over training steps."""
    return Answer(dashboard.variance(store, project, which))


@router.get("/passk", response_model=PassPanel)
def passk(store: StoreDep, which: Which, project: Project = DEFAULT) -> Response:
    """Unbiased pass@k with an interval."""
    return Answer(dashboard.passes(store, project, which))


@router.get("/length", response_model=LengthPanel)
def length(store: StoreDep, which: Which, run: Names, project: Project = DEFAULT) -> Response:
    """Reward and credit against length."""
    return Answer(dashboard_length.length(store, project, which, run))


@router.get("/tools", response_model=ToolsPanel)
def tools(store: StoreDep, which: Which, run: Names, project: Project = DEFAULT) -> Response:
    """Credit by tool in one run."""
    return Answer(dashboard_tools.by_tool(store, project, which, run))


@router.get("/agreement", response_model=AgreementPanel)
def agreement(store: StoreDep, which: Which, run: Names, project: Project = DEFAULT) -> Response:
    """How far runs agree."""
    return Answer(dashboard_agreement.agreement(store, project, which, run))


@router.get("/offpath", response_model=OffPathPanel)
def offpath(store: StoreDep, which: Which, run: Names, project: Project = DEFAULT) -> Response:
    """How much credit lies off the path to the outcome, by run."""
    return Answer(dashboard_offpath.off_path(store, project, which, run))
