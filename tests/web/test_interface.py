"""The web interface's own checks: code, parts, and journeys in a browser against a real server."""

import pytest

from tests.web.scripts import HOSTILE, TIMEOUT, npm


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(("lock", "--", "--check"), id="the lock file names versions, hashes and no registry"),
        pytest.param(("lint",), id="lint"),
        pytest.param(("typecheck",), id="types"),
        pytest.param(("types", "--", "--check"), id="the client's types are those of the served OpenAPI document"),
        pytest.param(("test",), id="pure parts and parts"),
    ],
)
def test_code(script: tuple[str, ...]) -> None:
    npm("run", *script)


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.usefixtures("browser")
def test_journeys_and_budgets_in_a_browser() -> None:
    npm("run", "e2e", "--", "--exclude", HOSTILE)
