"""The build hook: what it does with and without Node, and that a failure is told and not silent."""

import os
import shutil
from typing import Any

import pytest

import hatch_build

NPM = """#!/bin/sh
echo "$@" >> calls
[ "$1" = "$FAIL" ] && { printf 'npm error \\033[31mno such package\\033[0m\\n'; exit 1; }
[ "$1" = run ] && mkdir -p ../out && echo built > ../out/index.html
exit 0
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A web/ folder with one source, and an npm and a node of our own at the front of the path."""
    web, programs = tmp_path / "web", tmp_path / "bin"
    (web / "src").mkdir(parents=True)
    programs.mkdir()
    for name in ("package.json", "package-lock.json", "index.html", "src/main.tsx"):
        (web / name).write_text("{}")
    write_program(programs / "npm", NPM)
    write_program(programs / "node", "#!/bin/sh\necho v20.20.2\n")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("FAIL", "")
    monkeypatch.delenv("TRAJCREDIT_NO_WEB", raising=False)
    return tmp_path


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)


def calls(place):
    file = place / "web" / "calls"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def build(place):
    hatch_build.build(place / "web", place / "out")


def test_npm_installs_from_the_lock_file_and_builds(place):
    build(place)
    assert calls(place) == ["ci --omit=dev --ignore-scripts --no-audit --no-fund", "run build"]
    assert (place / "out" / "index.html").is_file()


def test_nothing_is_built_twice_from_the_same_sources(place):
    build(place)
    before = calls(place)
    build(place)
    assert calls(place) == before


@pytest.mark.parametrize("change", ["src/main.tsx", "package-lock.json", "src/new.ts"])
def test_any_changed_source_is_built_again(place, change):
    build(place)
    (place / "web" / change).write_text("changed")
    build(place)
    assert calls(place).count("run build") == 2


def test_what_npm_has_installed_is_left_alone(place):
    modules = place / "web" / "node_modules"
    modules.mkdir()
    (modules / ".package-lock.json").write_text("{}")
    build(place)
    assert calls(place) == ["run build"]


def test_the_tools_of_a_developer_are_not_taken_away(place):
    (place / "web" / "node_modules" / "vitest").mkdir(parents=True)
    build(place)
    assert calls(place)[0] == "ci --ignore-scripts --no-audit --no-fund"


@pytest.mark.parametrize("fail", ["ci", "run"])
def test_what_npm_said_last_is_the_reason(place, monkeypatch, fail):
    monkeypatch.setenv("FAIL", fail)
    with pytest.raises(hatch_build.NoWebError, match=rf"npm {fail}.* ended with 1:\nnpm error no such package$"):
        build(place)


def test_without_node_the_reason_says_so(place, monkeypatch):
    monkeypatch.setenv("PATH", str(place))
    with pytest.raises(hatch_build.NoWebError, match="Node is not installed"):
        build(place)


def test_an_old_node_is_named(place):
    write_program(place / "bin" / "node", "#!/bin/sh\necho v18.19.0\n")
    with pytest.raises(hatch_build.NoWebError, match=r"Node v18\.19\.0 is too old"):
        build(place)


def test_it_can_be_turned_off(place, monkeypatch):
    monkeypatch.setenv("TRAJCREDIT_NO_WEB", "1")
    with pytest.raises(hatch_build.NoWebError, match="TRAJCREDIT_NO_WEB is set"):
        build(place)
    assert calls(place) == []


class Screen:
    def display_warning(self, message):
        self.message = message


def hook_for(place, target, screen):
    made: Any = hatch_build.WebBuildHook
    return made(str(place), {}, None, None, str(place), target, screen)


def test_a_wheel_without_it_says_why_and_what_to_do(place, monkeypatch):
    (place / "trajcredit" / "web").mkdir(parents=True)
    (place / "trajcredit" / "web" / "index.html").write_text("of other sources")
    monkeypatch.setenv("TRAJCREDIT_NO_WEB", "1")
    screen = Screen()
    hook_for(place, "wheel", screen).initialize("standard", {})
    assert os.listdir(place / "trajcredit" / "web") == ["missing.txt"]
    said = (place / "trajcredit" / "web" / "missing.txt").read_text()
    assert "TRAJCREDIT_NO_WEB is set" in said
    assert "npm ci && npm run build" in said
    assert "TRAJCREDIT_NO_WEB is set" in screen.message


def test_a_source_distribution_builds_nothing(place):
    shutil.rmtree(place / "web")
    hook_for(place, "sdist", Screen()).initialize("standard", {})
    assert not (place / "trajcredit").exists()
