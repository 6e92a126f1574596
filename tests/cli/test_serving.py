"""`serve` and `demo` as processes: what they print, what they answer, and how Ctrl-C ends them."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import trajcredit
from trajcredit.cli import serve
from trajcredit.cli.serve import free_port, tell_missing_web
from trajcredit.service.demo import bundled

COMMAND = [sys.executable, "-m", "trajcredit.cli"]
WEB = Path(trajcredit.__file__).parent / "web"
FLIGHTS = str(bundled("wrong_flight.jsonl"))


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[tuple[str, list[str]]]:
    """The URL that a command prints, and all lines up to it; it is ended as Ctrl-C ends it, which is no failure."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            found = re.search(r"http://\S+", line)
            if found:
                yield found[0], lines
                break
    finally:
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
    assert "Traceback" not in complaints
    assert process.returncode == 0, complaints


def fetched(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def test_serve_says_where_it_is_and_makes_the_database(tmp_path: Path) -> None:
    with served(tmp_path, "serve", "--port", "0", "--db", "new.db") as (url, lines):
        assert lines == [f"trajcredit on {url}"]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", url)
        assert fetched(f"{url}/healthz")["status"] == "ok"
        assert fetched(f"{url}/api/v1/trajectories")["items"] == []
    assert (tmp_path / "new.db").exists()


def test_what_is_kept_on_the_command_line_is_served_and_runs_are_worked_on_by_the_server(tmp_path: Path) -> None:
    with served(tmp_path, "serve", "--port", "0") as (url, _):
        for command in (["ingest", FLIGHTS], ["run", "dag"]):
            subprocess.run([*COMMAND, *command], cwd=tmp_path, check=True, capture_output=True, timeout=120)
        assert fetched(f"{url}/api/v1/trajectories")["total"] == 4
        [run] = fetched(f"{url}/api/v1/runs")["items"]
        assert (run["label"], run["state"]) == ("dag", "done")


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*COMMAND, "serve", "--port", port], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
    assert (done.returncode, done.stdout) == (2, "")
    [complaint] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert f"127.0.0.1:{port}: Address already in use: name another port with --port" in complaint


def test_other_machines_are_let_in_only_where_it_is_asked_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "serve", "--host", "0.0.0.0", "--port", "0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "can be reached from other machines" in done.stderr.splitlines()[-1]


def page_at(url: str) -> tuple[int, bool]:
    """Status, and whether it is the web interface: where that was not built, a page says how to build it."""
    try:
        with urllib.request.urlopen(url, timeout=60) as page:
            return page.status, b"<script" in page.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b"<script" in error.read()


def test_the_demo_tells_keeps_scores_and_shows_it(tmp_path: Path) -> None:
    ids = set()
    for _ in range(2):
        with served(tmp_path, "demo", "--port", "0") as (url, lines):
            assert "Nothing used what [4] get_weather found: its credit is exactly 0." in lines
            assert (tmp_path / "trajcredit-demo.jsonl").is_file()
            base, project, trajectory = re.fullmatch(r"(http://[^/]+)/p/(\w+)/t/([\w-]+)\?by=dag&vs=grpo", url).groups()  # type: ignore[union-attr]  # then the test fails
            assert fetched(f"{base}/api/v1/trajectories/{trajectory}?project={project}")["external_id"] == "flight-1"
            credit = fetched(f"{base}/api/v1/trajectories/{trajectory}/credits?run=dag")["credit"]
            assert [credit[i] for i in (2, 4, 6, 8, 10)] == [-0.5, 0.0, -0.5, -0.5, -0.5]
            assert fetched(f"{base}/api/v1/trajectories/{trajectory}/credits?run=grpo")["credit"][4] == -0.5
            assert [run["label"] for run in fetched(f"{base}/api/v1/runs")["items"]] == ["dag", "grpo"]
            assert fetched(f"{base}/api/v1/trajectories")["total"] == 4
            built = (WEB / "index.html").is_file()
            assert page_at(url) == ((200, True) if built else (503, False))
            ids.add(trajectory)
    assert len(ids) == 1, "the second time nothing is made anew"


def test_the_demo_falls_back_to_a_free_port_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server((serve.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(port) == 0
    assert capsys.readouterr().err == f"note: port {port}: Address already in use; a free one is used\n"
    assert free_port(0) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("files", "told"),
    [
        pytest.param({"index.html": "<html>"}, "", id="it is there"),
        pytest.param(
            {"missing.txt": "The web interface was not built: no npm\nTo build it: npm ci\n"},
            "note: The web interface was not built: no npm To build it: npm ci\n",
            id="the build left word",
        ),
        pytest.param({}, f"note: {serve.BUILD}\n", id="nothing was built"),
    ],
)
def test_where_the_web_interface_is_missing_it_is_said_how_to_build_it(
    files: dict[str, str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "web").mkdir()
    for name, text in files.items():
        (tmp_path / "web" / name).write_text(text)
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path)
    tell_missing_web()
    assert capsys.readouterr().err == told
