"""Attributors from requests: JSON values and the command line's text mean the same, and labels tell runs apart."""

from __future__ import annotations

from typing import Any

import pytest

from trajcredit.errors import InputError, UnknownNameError
from trajcredit.service.asking import configured, of_spec


@pytest.mark.parametrize(
    ("name", "given", "spec", "label"),
    [
        pytest.param("dag", {}, "dag", "dag", id="nothing said"),
        pytest.param("dag", {"gamma": 0.95}, "dag:gamma=0.95", "dag:gamma=0.95", id="a number"),
        pytest.param("dag", {"gamma": "0.95"}, "dag:gamma=0.95", "dag:gamma=0.95", id="a number as text"),
        pytest.param("dag", {"gamma": 1}, "dag:gamma=1", "dag", id="the default in another form"),
        pytest.param("dag", {"soft": True}, "dag:soft=true", "dag:soft=true", id="a flag"),
        pytest.param(
            "dag", {"kinds": ["call", "value"]}, "dag:kinds=call+value", "dag:kinds=call+value", id="a list of text"
        ),
        pytest.param("grpo", {"eps": None}, "grpo:eps=none", "grpo", id="null"),
        pytest.param(
            "grpo", {"flavour": "trl", "eps": 0.5}, "grpo:eps=0.5,flavour=trl", "grpo:flavour=trl,eps=0.5", id="two"
        ),
    ],
)
def test_json_and_text_ask_for_the_same(name: str, given: dict[str, Any], spec: str, label: str) -> None:
    by_json, by_text = configured(name, given), of_spec(spec)
    assert by_json.attributor == by_text.attributor
    assert by_json.parameters == by_text.parameters
    assert sorted(by_json.label.split(":")[-1].split(",")) == sorted(label.split(":")[-1].split(","))


def test_the_stored_parameters_make_the_same_attributor_again() -> None:
    made = of_spec("dag:kinds=call+value,gamma=0.9,off_path=0.25,base=rloo")
    again = configured(made.name, made.parameters)
    assert (again.attributor, again.label, again.parameters) == (made.attributor, made.label, made.parameters)
    assert made.parameters["kinds"] == ["call", "value"]
    assert made.parameters["min_weight"] == 0.25, "defaults are stored too"


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        pytest.param("dag", {"gama": 1}, "no parameter 'gama'", id="unknown"),
        pytest.param("dag", {"gamma": 2}, r"not a number in \[0, 1\]", id="out of range"),
        pytest.param("dag", {"gamma": "fast"}, "gamma", id="no number"),
        pytest.param("dag", {"gamma": float("nan")}, "expected a finite number", id="NaN"),
        pytest.param("dag", {"gamma": float("inf")}, "expected a finite number", id="infinity"),
        pytest.param("dag", {"gamma": {"a": 1}}, "parameter gamma: expected", id="an object"),
        pytest.param("dag", {"base": "grpo,gamma=0"}, "no value has a comma", id="a value that would be two"),
        pytest.param("dag", {"base": "x" * 1001}, "more than 1,000 characters", id="a long text"),
        pytest.param("dag", {"gamma=1,soft": "true"}, "no parameter 'gamma=1,soft'", id="a key that would be two"),
        pytest.param("dag:gamma=0.5", {}, "expected a name alone", id="parameters in the name"),
        pytest.param("", {}, "expected a name alone", id="no name"),
    ],
)
def test_what_does_not_fit_is_named(name: str, given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        configured(name, given)


def test_an_unknown_attributor_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="no attributor named 'gpro'; known: belief, broadcast, clues, dag"):
        configured("gpro", {})
