"""The page and its files: headers on all of them, nothing from outside the folder, words where it was not built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.speaking import Api
from trajcredit.api.guard import HEADERS
from trajcredit.store import open_store


@pytest.fixture
def web(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>trajcredit</title>")
    (folder / "assets" / "index-B66gVkA2.js").write_text("1;")
    (folder / "assets" / "icon.svg").write_text("<svg/>")
    (folder / "assets" / ".hidden").write_text("no")
    (folder / "secret.txt").write_text("no")
    return folder


@pytest.fixture
def site(sqlite_url: str, web: Path):
    with open_store(sqlite_url) as store:
        yield Api(store, web=web).client


@pytest.mark.parametrize("path", ["/", "/p/default/trajectories", "/p/a%2Fb/t/ext:x%2Fy?span=s1"])
def test_the_page_is_served_wherever_it_may_be_opened(site, path: str) -> None:
    answer = site.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert answer.headers["Cache-Control"] == "no-cache"
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert site.head(path).status_code == 200


@pytest.mark.parametrize(
    ("name", "kind", "kept"),
    [
        ("index-B66gVkA2.js", "text/javascript", "public, max-age=31536000, immutable"),
        ("icon.svg", "image/svg+xml", "no-cache"),
    ],
)
def test_files_with_a_hash_are_kept_forever(site, name: str, kind: str, kept: str) -> None:
    answer = site.get(f"/assets/{name}")
    assert answer.headers["Content-Type"].split(";")[0] == kind
    assert answer.headers["Cache-Control"] == kept
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../secret.txt",
        "/assets/..%2Fsecret.txt",
        "/assets/%2e%2e%2fsecret.txt",
        "/assets/..%5Csecret.txt",
        "/assets/.hidden",
        "/assets/%00",
        "/assets/",
        "/assets/none.js",
        "/secret.txt",
        "//etc/passwd",
        "/assets//etc/passwd",
    ],
)
def test_nothing_else_is_served(site, path: str) -> None:
    answer = site.get(path)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_where_it_was_not_built_the_page_says_why(site, web: Path) -> None:
    (web / "index.html").unlink()
    (web / "missing.txt").write_text("Node is not installed\nTo build it: <b>install</b> Node")
    answer = site.get("/")
    assert answer.status_code == 503
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "Node is not installed" in answer.text
    (web / "missing.txt").unlink()
    assert "was not built" in site.get("/").text


def test_healthz_names_the_file_of_the_database_but_no_folder(tmp_path: Path, web: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'logs of mine.db'}") as store:
        answer = Api(store, web=web).client.get("/healthz").json()
    assert (answer["status"], answer["database"]) == ("ok", "logs of mine.db")
