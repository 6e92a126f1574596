"""GET /diagnostics: ten ways a run looks broken."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Query, Response
from pydantic import FiniteFloat

from trajcredit.api.answers import Answer
from trajcredit.api.models import Diagnosis
from trajcredit.api.parameters import DEFAULT, Project, StoreDep
from trajcredit.api.problems import RefusedError
from trajcredit.service.diagnosing_stored import Asked, Filters, of_project

__all__ = ["router"]

router = APIRouter()
Text: TypeAlias = Annotated[str | None, Query(max_length=1000)]
Step: TypeAlias = Annotated[int | None, Query(ge=-(2**53), le=2**53)]


@router.get("/diagnostics", response_model=Diagnosis, response_description="Modes, figures, evidence, checklist")
def diagnose(
    store: StoreDep,
    project: Project = DEFAULT,
    dataset: Text = None,
    task: Annotated[str | None, Query(max_length=20_000)] = None,
    role: Text = None,
    policy_version: Text = None,
    model: Annotated[str | None, Query(max_length=1000, description="The model that answered")] = None,
    step_min: Step = None,
    step_max: Step = None,
    reward: Annotated[str | None, Query(max_length=1000, description="A source, or the name of a reward")] = None,
    against: Annotated[str | None, Query(max_length=1000, description="The reward it is held against")] = None,
    group_by: Annotated[str | None, Query(max_length=200, description="Fields joined by +")] = None,
    pass_at: Annotated[FiniteFloat, Query(description="An outcome of at least this passes")] = 0.5,
    compare_a: Annotated[
        str | None, Query(max_length=1000, description="With compare_b: two versions or models")
    ] = None,
    compare_b: Text = None,
) -> Response:
    """Failure modes of the newest trajectories of a project that meet every filter, in whole groups."""
    if (compare_a is None) != (compare_b is None):
        raise RefusedError(
            422, "compare_a and compare_b go together", "compare_b" if compare_b is None else "compare_a"
        )
    sides = None if compare_a is None or compare_b is None else (compare_a, compare_b)
    filters = Filters(
        dataset=dataset,
        task=task,
        role=role,
        policy_version=policy_version,
        model=model,
        step_min=step_min,
        step_max=step_max,
    )
    asked = Asked(reward=reward, against=against, group_by=group_by, pass_at=pass_at, compare=sides)
    return Answer(of_project(store, project, filters, asked))
