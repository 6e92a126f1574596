"""npm scripts of web/ as tests, skipped with the reason where Node or a browser is missing and nobody insists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build

__all__ = ["HOSTILE", "TIMEOUT", "browser", "npm", "tools"]

WEB = Path(__file__).parents[2] / "web"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
REQUIRED = os.environ.get("TRAJCREDIT_TEST_WEB", "") not in ("", "0")
"""Set where what these tests need must be there: then nothing is skipped."""
HOSTILE = "e2e/hostile.test.ts"
"""What shows T01 and T02; the other browser tests leave it out."""
TIMEOUT = 900


def lacking(reason: str) -> None:
    if REQUIRED:
        pytest.fail(f"{reason}, and TRAJCREDIT_TEST_WEB says that these tests must run", pytrace=False)
    pytest.skip(reason)


def npm(*arguments: str) -> None:
    environment = {**os.environ, "PYTHON": sys.executable, "CHROMIUM": CHROMIUM, "NO_COLOR": "1"}
    done = subprocess.run(
        ["npm", *arguments], cwd=WEB, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert done.returncode == 0, f"npm {' '.join(arguments)}:\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}"


@pytest.fixture(scope="session")
def tools() -> None:
    """What package-lock.json names, development tools too."""
    try:
        hatch_build.find_npm()
    except hatch_build.NoWebError as reason:
        lacking(f"the web interface is not tested: {reason}")
    if not (hatch_build.installed(WEB) and (WEB / "node_modules" / "vitest").is_dir()):
        npm("ci", "--ignore-scripts", "--no-audit", "--no-fund")


@pytest.fixture(scope="session")
def browser(tools: None) -> None:
    if shutil.which(CHROMIUM) is None:
        lacking(f"no browser tests: {CHROMIUM} is not there (Debian: apt-get install chromium, or set CHROMIUM)")
