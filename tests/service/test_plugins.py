"""Attributors from text, and what is registered as people see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from trajcredit.attributors import Dag, Grpo
from trajcredit.errors import InputError, UnknownNameError
from trajcredit.service import plugins


def test_parameters_are_read_from_the_text_after_the_colon() -> None:
    [choice] = plugins.choose(["dag:gamma=0.9,kinds=call+value"])
    assert choice.label == "dag"
    assert choice.attributor == Dag(gamma=0.9, kinds=("call", "value"))


def test_one_name_with_two_sets_of_parameters_is_told_apart_by_the_whole_text() -> None:
    labels = [choice.label for choice in plugins.choose(["dag", "grpo", "dag:gamma=0.5"])]
    assert labels == ["dag", "grpo", "dag:gamma=0.5"]


@pytest.mark.parametrize(
    ("specs", "complaint"),
    [
        pytest.param(["dag:gamma"], "expected key=value after the colon, found 'gamma'", id="a key without a value"),
        pytest.param(["dag:gamma=1,gamma=2"], "gamma is given twice", id="a key given twice"),
        pytest.param(["dag", "dag"], "asked for twice", id="the same attributor twice"),
        pytest.param(["dag:gama=1"], "no parameter 'gama'", id="an unknown parameter"),
        pytest.param(["dag:gamma=high"], "gamma='high': expected float", id="a value of the wrong type"),
    ],
)
def test_a_wrong_text_is_an_error_that_says_what_is_wrong(specs: list[str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        plugins.choose(specs)


def test_an_unknown_attributor_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"no attributor named 'dga'; known: .*dag.*grpo"):
        plugins.choose(["dga"])


def test_python_values_make_the_same_attributor() -> None:
    assert plugins.make("dag", {"gamma": 0.9}) == Dag(gamma=0.9)
    with pytest.raises(InputError, match="no parameter 'gama'; it has: base, gamma"):
        plugins.make("dag", {"gama": 0.9})


def test_a_made_attributor_goes_by_the_name_it_is_registered_under() -> None:
    assert plugins.name_of(Grpo()) == "grpo"


def test_the_ending_of_a_file_picks_the_exporter() -> None:
    assert plugins.exporter_for(Path("a.jsonl")) == "jsonl"
    assert plugins.exporter_for(Path("b/a.parquet")) == "parquet"
    with pytest.raises(InputError, match=r"'a\.csv'.*known endings: \.jsonl, \.parquet"):
        plugins.exporter_for(Path("a.csv"))


def test_every_attributor_is_listed_with_what_it_needs_and_its_parameters() -> None:
    listed = {plugin.name: plugin for plugin in plugins.attributors()}
    assert {"broadcast", "rtg", "moving_average", "grpo", "rloo", "gae", "dag"} <= set(listed)
    assert listed["gae"].needs == ("values",)
    assert listed["dag"].needs == ()
    assert [p.name for p in listed["rtg"].parameters] == ["gamma"]


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        pytest.param(float, "float", id="a plain type"),
        pytest.param(int | None, "int | none", id="a type or none"),
        pytest.param(Literal["verl", "trl"], "verl | trl", id="a choice"),
        pytest.param(tuple[str, ...], "str, joined by +", id="a list"),
    ],
)
def test_a_type_in_words(hint: Any, words: str) -> None:
    assert plugins.type_text(hint) == words


@pytest.mark.parametrize(
    ("value", "text"), [(None, "none"), (True, "true"), (("a", "b"), "a+b"), (0.25, "0.25"), ("verl", "verl")]
)
def test_a_default_as_the_command_line_takes_it(value: Any, text: str) -> None:
    assert plugins.default_text(value) == text
