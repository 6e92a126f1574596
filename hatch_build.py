"""Builds the web interface into `trajcredit/web` when a wheel or an editable install is made.

Without Node, or where npm fails, the install goes on without it. `trajcredit/web` then holds no `index.html` but a
`missing.txt` that says why and what to do; the server shows it, because pip shows no build output.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "src", "public")
"""What of web/ the build depends on."""
OLDEST_NODE = (20, 19)
TIMEOUT = 600
"""Seconds that one npm command may take: a registry that hangs must not hang the install."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
HOW = "To build it: install Node 20.19 or newer and run `pip install .` again, or `npm ci && npm run build` in web/."


class NoWebError(Exception):
    """Why there is no web interface."""


class WebBuildHook(BuildHookInterface[Any]):
    """Runs before the files of the wheel are gathered."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build where the sources changed since the last build."""
        if self.target_name != "wheel":
            return
        out = Path(self.root) / "trajcredit" / "web"
        try:
            build(Path(self.root) / "web", out)
        except NoWebError as reason:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            (out / "missing.txt").write_text(f"The web interface was not built: {reason}\n{HOW}\n", encoding="utf-8")
            self.app.display_warning(f"the web interface was not built: {reason}")


def build(web: Path, out: Path) -> None:
    """Put the built interface of `web` into `out`, unless it is there already; NoWebError says why it cannot be."""
    if os.environ.get("TRAJCREDIT_NO_WEB", "") not in ("", "0"):
        raise NoWebError("TRAJCREDIT_NO_WEB is set")
    stamp = fingerprint(web)
    kept = out / "sources.sha256"
    if (out / "index.html").is_file() and kept.is_file() and kept.read_text() == stamp:
        return
    npm = find_npm()
    if not installed(web):
        run(web, npm, "ci", *scope(web), "--ignore-scripts", "--no-audit", "--no-fund")
    run(web, npm, "run", "build")
    if not (out / "index.html").is_file():
        raise NoWebError("npm run build left no index.html")
    kept.write_text(stamp)


def fingerprint(web: Path) -> str:
    """One hash over the names and contents of all sources."""
    if not (web / "package.json").is_file():
        raise NoWebError("the folder web/ with its sources is not here")
    digest = hashlib.sha256()
    for source in SOURCES:
        root = web / source
        for path in sorted(p for p in [root, *root.rglob("*")] if p.is_file()):
            name, content = path.relative_to(web).as_posix(), path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def find_npm() -> str:
    """The npm to run, with a Node that is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NoWebError(f"{'Node' if node is None else 'npm'} is not installed")
    asked = [node, "--version"]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=TIMEOUT, check=False).stdout  # noqa: S603  # no input
    version = tuple(int(part) for part in told.strip().lstrip("v").split(".")[:2] if part.isdigit())
    if version < OLDEST_NODE:
        raise NoWebError(f"Node {told.strip() or 'of unknown version'} is too old")
    return npm


def installed(web: Path) -> bool:
    """Whether npm has installed what the lock file names, and since it last changed."""
    done = web / "node_modules" / ".package-lock.json"
    return done.is_file() and done.stat().st_mtime >= (web / "package-lock.json").stat().st_mtime


def scope(web: Path) -> list[str]:
    """Only what the build needs, unless the tools of whoever works on it are there already."""
    return [] if (web / "node_modules" / "vitest").is_dir() else ["--omit=dev"]


def run(web: Path, npm: str, *arguments: str) -> None:
    """One npm command; what it said last is the reason where it fails."""
    command = f"npm {' '.join(arguments)}"
    try:
        done = subprocess.run(  # noqa: S603  # the arguments are those of this file
            [npm, *arguments],
            cwd=web,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoWebError(f"{command}: {error}") from error
    if done.returncode != 0:
        said = COLOURS.sub("", done.stdout.decode("utf-8", "replace")).strip().splitlines()[-30:]
        raise NoWebError("\n".join([f"{command} ended with {done.returncode}:", *said]))
