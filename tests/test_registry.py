"""Plugins of others: found by entry point, left out with a reason where they cannot be used."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from trajcredit import registry
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.registry import Member, Registry
from trajcredit.service.demo import bundled

FLIGHTS = str(bundled("wrong_flight.jsonl"))
GREETS = Member("a method", callable)


@dataclass(frozen=True)
class Sound:
    """A plugin as it should be."""

    loud: bool = False
    names: tuple[str, ...] = field(default_factory=tuple)
    scope: ClassVar = "group"

    def greet(self) -> str:
        return "hello"


class Plain(Sound):
    """No field of its own: still a dataclass, by its parent."""


class NoDataclass:
    def greet(self) -> None: ...


@dataclass
class Bare:
    name: str
    age: int
    sound: bool = True


@dataclass
class Mute:
    pass


@dataclass
class Number:
    greet: int = 3


@dataclass
class Failing:
    def __post_init__(self) -> None:
        raise OSError("no model on disk")


@dataclass
class Leaving:
    def __post_init__(self) -> None:
        sys.exit(3)


@dataclass
class Unresolved:
    size: Nowhere = None  # type: ignore[name-defined]  # noqa: F821


@dataclass
class Half:
    @property
    def greet(self) -> Callable[[], None]:
        raise ZeroDivisionError("oh")


def registry_of(**plugins: Any) -> Registry[Any]:
    made: Registry[Any] = Registry("greeter", "trajcredit.errors", {"greet": GREETS})
    for name, plugin in plugins.items():
        made.register(name)(plugin)
    return made


@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        pytest.param(NoDataclass, "it must be a dataclass: its fields are its parameters", id="no dataclass"),
        pytest.param(Sound(), "it must be a dataclass", id="an instance"),
        pytest.param(len, "it must be a dataclass", id="a function"),
        pytest.param(Bare, "every field needs a default, and name, age has none", id="fields without a default"),
        pytest.param(Mute, "it lacks `greet`: expected a method", id="a method is missing"),
        pytest.param(Number, "its `greet` is 3: expected a method", id="a number for a method"),
        pytest.param(Failing, "OSError: no model on disk", id="it cannot be made"),
        pytest.param(Leaving, "SystemExit: 3", id="it leaves the program"),
        pytest.param(Unresolved, "its fields cannot be read: NameError", id="a type that is nowhere"),
        pytest.param(Half, "ZeroDivisionError: oh", id="a property that fails"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_left_out_told_once_and_says_why_when_asked_for(
    plugin: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    known = registry_of(good=Sound, bad=plugin)
    assert list(known.items()) == list(known.items()) == ["good"]
    assert known.get("good") is Sound
    with pytest.raises(InputError, match=r"^greeter 'bad' cannot be used: ") as caught:
        known.get("bad")
    assert reason in str(caught.value)
    [told] = caplog.records
    assert told.levelno == logging.WARNING
    assert told.getMessage().startswith("greeter 'bad' is left out: ")
    assert reason in told.getMessage()


def test_an_unknown_name_lists_only_what_can_be_used() -> None:
    with pytest.raises(UnknownNameError, match=r"no greeter named 'x'; known: good, plain$"):
        registry_of(good=Sound, plain=Plain, bad=Bare).get("x")


def test_a_taken_name_is_refused_and_says_by_whom() -> None:
    known = registry_of(good=Sound)
    with pytest.raises(InputError, match=r"the greeter name 'good' is taken by <class '.*Sound'>"):
        known.register("good")(Plain)


def test_what_registers_later_is_found_too() -> None:
    known = registry_of(good=Sound)
    assert list(known.items()) == ["good"]
    known.register("late")(Plain)
    assert list(known.items()) == ["good", "late"]


def test_our_own_are_all_sound(caplog: pytest.LogCaptureFixture) -> None:
    for known in (registry.formats, registry.attributors, registry.exporters):
        assert known.items()
    assert not caplog.records


ATTRIBUTOR = """
from dataclasses import dataclass
import numpy as np
import trajcredit as tc
from trajcredit.registry import attributors

@attributors.register("{name}")
@dataclass(frozen=True)
class Ours:
    \"""All on the actions.\"""
    {body}
    scope = "group"

    def __call__(self, batch):
        ones = np.where(batch.action_mask, 1.0, np.nan)
        return tc.Attribution(ones, ones)

    def explain(self, batch, span):
        return (tc.Term("one", 1.0),)
"""


def installed(folder: Path, **modules: str) -> dict[str, str]:
    """The environment with a distribution in it that has one entry point a module, of the same name."""
    facts = folder / "theirs-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[trajcredit]\n" + "".join(f"{name} = {name}\n" for name in modules))
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trajcredit.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )


def test_broken_plugins_take_no_command_down_and_the_good_one_beside_them_works(tmp_path: Path) -> None:
    theirs = installed(
        tmp_path,
        away="import nowhere_to_be_found",
        leaving="raise SystemExit('bye')",
        second=ATTRIBUTOR.format(name="dag", body="needs = ()"),
        half=ATTRIBUTOR.format(name="half", body="share: float\n    needs = ()"),
        whole=ATTRIBUTOR.format(name="ours", body="needs = ()"),
    )
    told = [
        "warning: plugin 'away' is left out: away failed to load: ModuleNotFoundError: No module named 'nowhere_to",
        "warning: plugin 'leaving' is left out: leaving failed to load: SystemExit: bye",
        "warning: plugin 'second' is left out: second failed to load: InputError: the attributor name 'dag' is taken",
        "warning: attributor 'half' is left out: every field needs a default, and share has none",
    ]
    for command, shows in (
        (["attributors"], "\nours  All on the actions."),
        (["score", FLIGHTS, "-a", "ours"], '"attributor":"ours"'),
        (["blame", FLIGHTS, "-a", "ours"], "credit +1.0000 = +1.0000 (one)"),
    ):
        done = run(theirs, *command)
        assert done.returncode == 0, done.stderr
        assert shows in done.stdout
        assert all(done.stderr.count(line) == 1 for line in told), done.stderr
        assert "Traceback" not in done.stderr
    asked = {name: run(theirs, "score", FLIGHTS, "-a", name) for name in ("half", "away")}
    assert [done.returncode for done in asked.values()] == [2, 2]
    assert "error: attributor 'half' cannot be used: every field needs a default" in asked["half"].stderr
    assert "error: attributor 'away' cannot be used: away failed to load: ModuleNotFound" in asked["away"].stderr
