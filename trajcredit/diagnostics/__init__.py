"""Ten failure modes, pass@k, diversity, trends and comparisons: pure arithmetic over one table of facts."""

from trajcredit.diagnostics.answer import Finding, Status, Verdict
from trajcredit.diagnostics.catalog import MODES, FailureMode
from trajcredit.diagnostics.seen import Seen, seen_of
from trajcredit.diagnostics.table import Scale, Table, order_of, tasks_of

__all__ = [
    "MODES",
    "FailureMode",
    "Finding",
    "Scale",
    "Seen",
    "Status",
    "Table",
    "Verdict",
    "order_of",
    "seen_of",
    "tasks_of",
]
