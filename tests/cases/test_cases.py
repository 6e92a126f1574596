"""A folder of cases made from public bug reports, run through the public API.

TRAJCREDIT_CASES names the folder; by default `../shared/cases` beside the repository, where it is there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cases.adapter import NotYetError, run_case

FOLDER = Path(os.environ.get("TRAJCREDIT_CASES") or Path(__file__).parents[3] / "shared" / "cases")
FILES = sorted(FOLDER.rglob("*.json")) if FOLDER.is_dir() else []


@pytest.mark.skipif(not FILES, reason=f"no cases at {FOLDER}")
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER).with_suffix("")))
def test_a_case_from_a_bug_report(file):
    case: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    try:
        run_case(case)
    except NotYetError as missing:
        pytest.skip(str(missing))
