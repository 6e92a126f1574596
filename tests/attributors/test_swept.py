"""A sweep says of every setting what that setting says by itself; what cannot be swept is refused with a reason."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.build import run
from tests.laws import rollouts
from trajcredit.attributors import Attributor, Broadcast, Dag, Gae, Grpo, Rloo, Rtg, swept
from trajcredit.attributors.flavours import FLAVOURS
from trajcredit.batching import Batch, pack
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.model import Trajectory

torch.set_num_threads(1)

GROUPS: list[Attributor] = [
    *(Grpo(flavour=f, scale=s) for f, s in product(FLAVOURS, ("group", "none"))),  # type: ignore[arg-type]
    *(Grpo(flavour=f, singleton="as_trainer", baseline=b) for f, b in product(FLAVOURS, ("flavour", "siblings"))),  # type: ignore[arg-type]
    Grpo(scale="batch"),
    Grpo(scale="batch", baseline="batch", ddof=0, eps=0.1),
    *(Rloo(flavour=f, singleton=s) for f, s in product(("verl", "trl", "nemo"), ("zero", "as_trainer"))),  # type: ignore[arg-type]
]
SCANS: list[Attributor] = [
    *(Rtg(gamma) for gamma in (1.0, 0.9, 0.0)),
    *(Gae(gamma, lam, values="zero") for gamma, lam in product((1.0, 0.9), (0.0, 0.95, 1.0))),
    Gae(0.9, 0.5, unit="turn", values="zero"),
    Gae(0.9, 0.5, flavour="openrlhf", values="zero"),
    Gae(0.9, 0.5, flavour="skyrl", values="zero"),
]
MASKS: list[Attributor] = [
    *(Dag(gamma=gamma, off_path=off) for gamma, off in product((1.0, 0.5), (0.0, 0.3))),
    Dag(base="rtg", min_weight=0.6, soft=True),
    Dag(base="moving_average", sinks=("reward",), off_path=1.0),
]


def batch_of(runs: list[Trajectory]) -> Batch:
    return pack(build_graphs(runs))


def agrees(batch: Batch, all_settings: list[Attributor]) -> None:
    seen = []
    for s, credit, advantage in swept.swept(batch, all_settings):
        alone = all_settings[s](batch)
        for mine, theirs in ((credit, alone.credit), (advantage, alone.advantage)):
            largest = float(np.nanmax(np.abs(theirs), initial=1.0))
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9 * largest, err_msg=repr(all_settings[s]))
        seen.append(s)
    assert seen[0] == 0
    assert sorted(seen) == list(range(len(all_settings)))


@settings(max_examples=5)
@given(rollouts())
def test_every_setting_is_that_setting_by_itself(runs: list[Trajectory]) -> None:
    agrees(batch_of(runs), [*SCANS, *GROUPS, *MASKS])


LOGGED: list[Attributor] = [
    *(Gae(gamma, lam) for gamma, lam in product((1.0, 0.9), (0.5, 0.95))),
    Gae(0.9, unit="turn"),
    Gae(0.9, flavour="openrlhf"),
    Dag(base="gae", off_path=0.5),
]


@pytest.fixture
def valued() -> Batch:
    """Two runs with a critic's values, one of them without the value of one step."""
    some = run("ucra", 1.0, name="a", group="g", values=[0.1, 0.2, 0.3, 0.4])
    return batch_of([some, run("uccrra", 0.0, name="b", group="g", values=[0.5, 0.25, 0.0, 0.5, 0.125, 0.75])])


def test_logged_values_are_read_as_gae_reads_them(valued: Batch) -> None:
    agrees(valued, LOGGED)


def test_more_settings_than_fit_at_once_are_taken_in_several_passes(
    valued: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swept, "AT_ONCE", 2 * valued.n_spans + 1)
    agrees(valued, [*LOGGED, *SCANS])


@pytest.mark.parametrize(
    ("attributor", "reason"),
    [
        (Broadcast(), "not one of rtg, gae, grpo, rloo, dag"),
        (Gae(whiten=True), "whiten"),
        (Rloo(flavour="trl", whiten=True), "whiten"),
    ],
)
def test_what_is_no_kernel_alone_is_refused(attributor: Attributor, reason: str) -> None:
    assert reason in (swept.refusal(attributor) or "")


@given(st.sampled_from([*SCANS, *GROUPS, *MASKS]))
@settings(max_examples=5)
def test_all_others_are_not(attributor: Attributor) -> None:
    assert swept.refusal(attributor) is None


@pytest.mark.parametrize("device", ["nowhere", *([] if torch.cuda.is_available() else ["cuda"])])
def test_a_device_that_is_not_there_is_named(valued: Batch, device: str) -> None:
    with pytest.raises(InputError, match=f"device '{device}'"):
        list(swept.swept(valued, [Rtg()], device))
