"""The docs do not fall behind: README commands and snippets run, generated pages are fresh, plugins are documented."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from trajcredit import registry
from trajcredit.cli.root import COMMANDS, root
from trajcredit.service import plugins
from trajcredit.service.demo import bundled

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRACTS = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def blocks(language: str) -> list[str]:
    return [text for name, text in BLOCKS if name == language]


SET_UP, WORK = (line for text in blocks("sh")[:2] for line in text.splitlines())
COMMAND_LINES = [line for text in blocks("sh")[2:] for line in text.splitlines()]


def test_the_two_set_up_commands_come_before_line_25() -> None:
    top = README.splitlines()[:24]
    assert SET_UP in top
    assert WORK in top
    assert SET_UP.endswith("pip install . && trajcredit demo")


def test_ci_runs_the_test_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "command=$(grep -m 1 'poe check' README.md)" in script
    assert 'eval "$command"' in script
    assert next(line for line in README.splitlines() if "poe check" in line) == WORK


def test_the_commands_of_the_readme_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAJCREDIT_DB", raising=False)
    shutil.copy(bundled("wrong_flight.jsonl"), "my_runs.jsonl")
    assert COMMAND_LINES
    for command in COMMAND_LINES:
        program, *arguments = shlex.split(command)
        assert program == "trajcredit"
        result = CliRunner().invoke(root, arguments)
        assert result.exit_code == 0, f"{command}: {result.output}"


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(root, ["demo", "--no-serve"]).output
    [shown] = blocks("text")
    assert printed.startswith(shown)


def python(code: str, folder: Path) -> str:
    file = folder / "snippet.py"
    file.write_text(code, encoding="utf-8")
    shutil.copy(bundled("wrong_flight.jsonl"), folder / "my_runs.jsonl")
    done = subprocess.run(
        [sys.executable, str(file)], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    four_lines, _ = blocks("python")
    python(four_lines, tmp_path)
    assert (tmp_path / "advantages.parquet").stat().st_size > 0


def test_the_attributor_of_the_readme_runs_and_explains_itself(tmp_path: Path) -> None:
    _, snippet = blocks("python")
    use = """
batch = tc.batch(tc.read("my_runs.jsonl"))
credit = tc.attribute(batch, "effects", share=0.1)
actions = np.flatnonzero(batch.action_mask)
print(credit.attributor, sorted(set(credit.credit[actions].tolist())))
[effects] = [attributors.get("effects")(share=0.1)]
assert all(abs(sum(t.value for t in effects.explain(batch, i)) - credit.credit[i]) < 1e-6 for i in actions)
"""
    assert python(snippet + use, tmp_path) == "effects [0.0, 0.1, 1.0]\n"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_every_example_runs(example: Path, tmp_path: Path) -> None:
    assert python(example.read_text(encoding="utf-8"), tmp_path)


def test_the_page_of_attributors_is_what_the_registry_says() -> None:
    fresh = CliRunner().invoke(root, ["attributors", "--markdown"]).output
    assert (ROOT / "docs" / "attributors.md").read_text(encoding="utf-8") == fresh, "run `poe docs`"


def test_the_readme_lists_every_format() -> None:
    rows = re.findall(r"^\| [^|]+ \| (`.*`) \|$", README, re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(plugin.name for plugin in plugins.formats())


REAL = re.compile(r"<!-- real logs -->.*<!-- end of real logs -->", re.DOTALL)
"""The part of docs/formats.md that is made from logs which are not in the repository."""


def test_the_page_of_formats_is_what_readers_say_and_find_in_the_logs_here(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    empty = tmp_path / "no logs"
    empty.mkdir()
    code = f"import pathlib, formats_page; print(formats_page.page(pathlib.Path({str(empty)!r})), end='')"
    made = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=ROOT / "bench",
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    [real] = REAL.findall(page)
    assert REAL.sub("", made.stdout) == REAL.sub("", page), "run `poe docs`"
    assert "/work" not in real
    assert all(f"| `{plugin.name}` |" in real for plugin in plugins.formats() if plugin.name not in UNSEEN)


UNSEEN = ("trajcredit", "trl", "bfcl", "verl", "verifiers_traces", "agent_lightning")
"""Formats of which no published log is at hand."""


EVERY_PLUGIN = [
    pytest.param(plugin, id=f"{what}: {name}")
    for what, known in (
        ("format", registry.formats),
        ("attributor", registry.attributors),
        ("exporter", registry.exporters),
    )
    for name, plugin in known.items().items()
]


@pytest.mark.parametrize("plugin", EVERY_PLUGIN)
def test_every_plugin_says_what_it_does_and_so_does_each_of_its_parameters(plugin: Any) -> None:
    assert len(registry.summary(plugin).split()) >= 4
    for parameter in registry.parameters(plugin):
        assert parameter.sentence.endswith("."), f"{parameter.name} has no sentence"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_of_the_contracts_lists_the_options_there_are_and_no_others(name: str) -> None:
    command = root.get_command(click.Context(root), name)
    assert command is not None
    [usage] = re.findall(rf"^    trajcredit {name}\b(.*\n(?: {{8,}}.*\n)*)", CONTRACTS, re.MULTILINE)
    options = [set(option.opts) for option in command.params if isinstance(option, click.Option)]
    listed = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", usage))
    assert not [option for option in options if not option & listed]
    assert not listed - set().union(*options)


def test_every_format_that_the_contracts_name_is_one() -> None:
    named = {name for pair in re.findall(r'format `(\w+)`|format="(\w+)"', CONTRACTS) for name in pair if name}
    assert named
    assert named <= set(registry.formats.items())


def test_every_column_of_a_credit_row_is_in_the_contracts() -> None:
    from trajcredit.exporters import COLUMNS

    listed = [
        name
        for row in re.findall(r"^\| ([a-z_, ]+) \| (?:text|integer|true|number)", CONTRACTS, re.MULTILINE)
        for name in row.split(", ")
    ]
    assert tuple(listed) == COLUMNS
