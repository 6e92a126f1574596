"""T28: pages of other sites, and names that are made to lead here, change nothing and read nothing."""

from __future__ import annotations

import pytest

from tests.api.speaking import Api, chat, lines, problem
from trajcredit.store import open_store

LOG = lines(chat("a"))


@pytest.fixture
def api(sqlite_url: str):
    with open_store(sqlite_url) as store:
        yield Api(store, hosts=["gpu-7.example"])


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8765", "127.0.0.1:1", "[::1]:8765", "gpu-7.example:8765"])
def test_our_own_names_are_answered(api: Api, host: str) -> None:
    assert api.send("GET", "/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example:8765", 403),
        ("0.0.0.0", 403),
        ("[::2]", 403),
        ("gpu-7.example.", 403),
        ("", 400),
        ("localhost@evil.example", 400),
        ("localhost:port", 400),
        ("localhost evil.example", 400),
        ("[::1", 400),
    ],
)
@pytest.mark.parametrize("path", ["/runs", "/trajectories"])
def test_other_names_are_not(api: Api, host: str, status: int, path: str) -> None:
    response = api.send("GET", path, headers={"Host": host})
    assert response.status_code == status
    assert problem(response)["status"] == status


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "file://"},
        {"Origin": "http://localhost:8765@evil.example"},
        {"Origin": "http://[", "Host": "localhost:8765"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/trajectories", "/rewards", "/runs", "/runs/x/cancel"])
def test_other_sites_write_nothing(api: Api, headers: dict[str, str], path: str) -> None:
    response = api.send("POST", path, content=LOG, headers={"Host": "localhost:8765", **headers})
    assert response.status_code == 403
    assert "site" in problem(response)["detail"] or "page" in problem(response)["detail"]
    assert api.get("/trajectories")["total"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:8765"},
        {"Origin": "https://LOCALHOST:8765", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_our_own_page_and_programs_do(api: Api, headers: dict[str, str]) -> None:
    response = api.send("POST", "/trajectories", content=LOG, headers={"Host": "localhost:8765", **headers})
    assert response.status_code == 200


def test_no_other_site_is_told_that_it_may_ask(api: Api) -> None:
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    response = api.send("OPTIONS", "/trajectories", headers=asked)
    assert response.status_code == 405
    assert not [name for name in response.headers if name.startswith("access-control")]
    read = api.send("GET", "/trajectories", headers={"Origin": "http://evil.example"})
    assert not [name for name in read.headers if name.startswith("access-control")]
