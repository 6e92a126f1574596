"""Parameters of every attributor: defaults, sentences, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from trajcredit.attributors import (
    Dag,
    Gae,
    Gpg,
    Grpo,
    Maxrl,
    MovingAverage,
    Opo,
    Passk,
    ReinforcePp,
    Rloo,
    Rtg,
    configure,
)
from trajcredit.errors import InputError
from trajcredit.registry import attributors, parameters, summary

NAMES = [
    "broadcast",
    "dag",
    "doubly_robust",
    "gae",
    "gigpo",
    "gpg",
    "grpo",
    "information_gain",
    "maxrl",
    "moving_average",
    "novelty",
    "opo",
    "passk",
    "reinforce_pp",
    "rloo",
    "rtg",
    "shapley",
    "tree",
]


def test_all_are_registered() -> None:
    assert set(NAMES) <= set(attributors.items())


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_has_a_default_and_a_sentence(name: str) -> None:
    plugin = attributors.get(name)
    assert summary(plugin)
    assert plugin() == plugin(**{p.name: p.default for p in parameters(plugin)})
    assert all(p.sentence.endswith(".") for p in parameters(plugin))


@pytest.mark.parametrize(
    ("plugin", "given", "says"),
    [
        pytest.param(Rtg, {"gamma": 1.1}, r"rtg: gamma=1.1 is not a number in \[0, 1\]", id="gamma above 1"),
        pytest.param(Rtg, {"gamma": float("nan")}, "gamma=nan", id="gamma not a number"),
        pytest.param(Rtg, {"gamma": "0.9"}, "gamma='0.9'", id="gamma as text"),
        pytest.param(Rtg, {"gamma": True}, "gamma=True", id="gamma yes"),
        pytest.param(MovingAverage, {"beta": -0.1}, "beta=-0.1", id="beta below 0"),
        pytest.param(Grpo, {"flavour": "vrel"}, "flavour='vrel' is not one of verl, trl", id="a flavour misspelt"),
        pytest.param(Grpo, {"ddof": 2}, "ddof=2 is not one of None, 0, 1", id="ddof 2"),
        pytest.param(Grpo, {"eps": -1e-9}, "eps=-1e-09", id="eps below 0"),
        pytest.param(Grpo, {"scale": "step"}, "scale='step' is not one of group, batch, none", id="a scale we lack"),
        pytest.param(Grpo, {"baseline": "task"}, "baseline='task' is not one of flavour, group", id="a mean we lack"),
        pytest.param(
            Grpo, {"flavour": "prime", "scale": "batch"}, "flavour=prime divides by nothing", id="prime never divides"
        ),
        pytest.param(Grpo, {"baseline": "batch"}, "baseline=batch goes with scale=batch", id="no spread to divide by"),
        pytest.param(Grpo, {"singleton": "raw"}, "singleton='raw'", id="a rule for one we lack"),
        pytest.param(Rloo, {"flavour": ""}, "rloo: flavour=''", id="no flavour"),
        pytest.param(
            Rloo, {"flavour": "slime"}, "flavour='slime' is not one of verl, trl", id="a trainer without RLOO"
        ),
        pytest.param(Rloo, {"singleton": None}, "rloo: singleton=None", id="no rule for one"),
        pytest.param(Rloo, {"whiten": True}, "rloo: whiten=true is TRL's, and flavour=verl", id="whitened by nobody"),
        pytest.param(Gae, {"lam": 2}, "lam=2", id="lam above 1"),
        pytest.param(Gae, {"unit": "token"}, "unit='token' is not one of span, turn", id="a unit we lack"),
        pytest.param(Gae, {"values": "mean"}, "values='mean' is not one of logged, zero", id="values we lack"),
        pytest.param(Gae, {"flavour": "trl"}, "flavour='trl' is not one of verl, nemo", id="a trainer without GAE"),
        pytest.param(Gae, {"whiten": "yes"}, "whiten='yes' is not one of False, True", id="whitened as text"),
        pytest.param(
            Gae, {"unit": "turn", "flavour": "skyrl"}, "flavour=skyrl needs unit=span", id="turns have no observations"
        ),
        pytest.param(
            ReinforcePp, {"flavour": "rllm"}, "flavour='rllm' is not one of verl, skyrl", id="a flavour we lack"
        ),
        pytest.param(ReinforcePp, {"gamma": 1.5}, "reinforce_pp: gamma=1.5", id="gamma above 1 in returns"),
        pytest.param(
            ReinforcePp, {"baseline": "batch"}, "baseline='batch' is not one of none, group", id="no such form"
        ),
        pytest.param(
            ReinforcePp, {"flavour": "nemo"}, "baseline=none goes with flavour=verl, skyrl, openrlhf", id="nemo's form"
        ),
        pytest.param(
            ReinforcePp, {"baseline": "group", "gamma": 0.9}, "gamma=0.9 must be 1", id="nothing there to discount"
        ),
        pytest.param(Maxrl, {"flavour": "verl"}, "maxrl: flavour='verl' is not one of skyrl, prime", id="not in verl"),
        pytest.param(Maxrl, {"singleton": "raw"}, "maxrl: singleton='raw'", id="maxrl of one"),
        pytest.param(Opo, {"singleton": "raw"}, "opo: singleton='raw'", id="opo of one"),
        pytest.param(Gpg, {"singleton": "raw"}, "gpg: singleton='raw'", id="gpg of one"),
        pytest.param(Passk, {"scale": "batch"}, "passk: scale='batch' is not one of group, none", id="pass@k by batch"),
        pytest.param(Dag, {"base": "dag"}, "base='dag' is not one of broadcast", id="a mask on a mask"),
        pytest.param(Dag, {"off_path": 1.5}, "off_path=1.5", id="more than all"),
        pytest.param(Dag, {"min_weight": -1}, "min_weight=-1", id="a weight below 0"),
        pytest.param(Dag, {"kinds": ("calls",)}, "kinds='calls' is not one of call, turn", id="a kind misspelt"),
        pytest.param(Dag, {"kinds": "call"}, "kinds='call' is not a list", id="a kind where kinds are wanted"),
        pytest.param(
            Dag, {"sinks": ("end",)}, "sinks='end' is not one of reward, answer, effects", id="a sink we lack"
        ),
        pytest.param(Dag, {"sinks": ()}, "sinks is empty", id="no sinks"),
        pytest.param(Dag, {"soft": "yes"}, "soft='yes'", id="soft as text"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(plugin: type, given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        plugin(**given)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("True", True), ("1", True), ("yes", True), ("false", False), ("0", False), ("NO", False)],
)
def test_yes_and_no_are_read_however_they_are_written(text: str, value: bool) -> None:
    assert configure(Dag, {"soft": text}) == Dag(soft=value)
    with pytest.raises(InputError, match="parameter soft='perhaps': expected bool"):
        configure(Dag, {"soft": "perhaps"})


@pytest.mark.parametrize("text", ["none", "null", ""])
def test_none_is_read_however_it_is_written(text: str) -> None:
    assert configure(Grpo, {"ddof": text}) == Grpo(ddof=None)


def test_parameters_are_read_from_text() -> None:
    assert configure(Grpo, {"ddof": "0", "eps": "none", "flavour": "trl"}) == Grpo("trl", ddof=0)
    assert configure(Dag, {"kinds": "call+value", "soft": "true", "base": "rloo"}) == Dag(
        "rloo", kinds=("call", "value"), soft=True
    )
    assert configure(Gae, {"values": "zero", "unit": "turn"}) == Gae(values="zero", unit="turn")
    with pytest.raises(InputError, match="gamma=7"):
        configure(Rtg, {"gamma": "7"})
