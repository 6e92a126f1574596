"""What goes over HTTP, field by field: the OpenAPI document and the web client's types are made from these.

Numbers are finite or null; null is "not scored" or "not logged", never 0. Columns run in parallel, one entry a span, so
that a transcript of 20,000 spans stays small.
"""

from __future__ import annotations

from trajcredit.api.models.common import EdgeKind, Kind, Law, NoteOut, Out, Problem, RunState, Source
from trajcredit.api.models.credits import CreditColumns, PathStep, SpanCredit, SpanCredits, TermOut, Why
from trajcredit.api.models.edges import EdgeColumns, EdgeEvidence, EdgeEvidenceList, EdgeMatch
from trajcredit.api.models.exports import AlignmentFailureOut, PreviewOut, RowPreviewOut, TotalsOut
from trajcredit.api.models.finding import FoundOut
from trajcredit.api.models.labels import (
    GradeFigure,
    GradesOut,
    KappaOut,
    LabelOut,
    LabelPage,
    LabelProblem,
    LabelResult,
    LabelTurn,
    RunGrade,
)
from trajcredit.api.models.overrides import (
    CreditNumbers,
    EdgeChange,
    EdgeEditPreview,
    EdgeEditPreviewRequest,
    EdgeEditRequest,
    EdgeEdits,
    EdgeSaying,
    EditedEdge,
)
from trajcredit.api.models.plugins import (
    AttributorInfo,
    ExporterInfo,
    FormatInfo,
    Health,
    ParameterInfo,
    Suggestions,
    Tokenizers,
)
from trajcredit.api.models.runs import RunOut, RunPage, RunRequest
from trajcredit.api.models.trajectories import (
    RewardOut,
    SpanText,
    SpanTextWindow,
    TopSpan,
    TrajectoryOut,
    TrajectoryPage,
    TrajectoryRow,
)
from trajcredit.api.models.uploads import IngestItem, IngestProblem, IngestResult, RewardProblem, RewardResult

__all__ = [
    "AlignmentFailureOut",
    "AttributorInfo",
    "CreditColumns",
    "CreditNumbers",
    "EdgeChange",
    "EdgeColumns",
    "EdgeEditPreview",
    "EdgeEditPreviewRequest",
    "EdgeEditRequest",
    "EdgeEdits",
    "EdgeEvidence",
    "EdgeEvidenceList",
    "EdgeKind",
    "EdgeMatch",
    "EdgeSaying",
    "EditedEdge",
    "ExporterInfo",
    "FormatInfo",
    "FoundOut",
    "GradeFigure",
    "GradesOut",
    "Health",
    "IngestItem",
    "IngestProblem",
    "IngestResult",
    "KappaOut",
    "Kind",
    "LabelOut",
    "LabelPage",
    "LabelProblem",
    "LabelResult",
    "LabelTurn",
    "Law",
    "NoteOut",
    "Out",
    "ParameterInfo",
    "PathStep",
    "PreviewOut",
    "Problem",
    "RewardOut",
    "RewardProblem",
    "RewardResult",
    "RowPreviewOut",
    "RunGrade",
    "RunOut",
    "RunPage",
    "RunRequest",
    "RunState",
    "Source",
    "SpanCredit",
    "SpanCredits",
    "SpanText",
    "SpanTextWindow",
    "Suggestions",
    "TermOut",
    "Tokenizers",
    "TopSpan",
    "TotalsOut",
    "TrajectoryOut",
    "TrajectoryPage",
    "TrajectoryRow",
    "Why",
]
