"""T01, T02: nothing in a log acts on whoever looks at it in the browser: no script, dialog, request or beacon."""

import pytest

from tests.web.scripts import HOSTILE, TIMEOUT, npm


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.usefixtures("browser")
def test_t01_stored_scripts_and_t02_beacons_do_nothing() -> None:
    npm("run", "e2e", "--", HOSTILE)
