"""Shards of whole groups: the bits, the notes and the errors of one call over the whole batch."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.attributors.test_registered_laws import ATTRIBUTORS, CRITIC
from tests.engines.worlds import Picky, Posted, batch
from trajcredit.attributors import Attributor
from trajcredit.batching import Batch
from trajcredit.engines.scoring import attribution, why_whole
from trajcredit.engines.shards import cut
from trajcredit.errors import InputError
from trajcredit.exporters import Credit
from trajcredit.service.attributing import Filled, scored

FILLED: Filled = {}


def said(name: str, attributor: Attributor, posted: bool) -> Credit:
    call = partial(attribution, Posted()) if posted else (lambda made, batch: made(batch))
    return scored(batch(), name, attributor, CRITIC.get(name), FILLED, call=call)


def test_shards_are_whole_groups_and_hold_everything_once() -> None:
    whole = batch()
    shards = cut(whole, 4)
    assert len(shards) == 4
    assert sorted(name for shard in shards for name in shard.batch.group_ids) == sorted(whole.group_ids)
    assert sorted(np.concatenate([shard.spans for shard in shards]).tolist()) == list(range(whole.n_spans))
    for shard in shards:
        one = shard.batch
        assert len(one.kind) == one.span_offsets[-1] == len(one.parent_offsets) - 1
        for t, name in enumerate(one.trajectory_ids):
            at = whole.trajectory_ids.index(name)
            assert whole.group_ids[whole.group[at]] == one.group_ids[one.group[t]]
            assert edges_of(one, t) == edges_of(whole, at)


def edges_of(batch: Batch, t: int) -> list[tuple[int, int, float, int]]:
    """(child, parent, weight, kind) of a trajectory, counted from its first span."""
    first, last = batch.span_offsets[t : t + 2].tolist()
    return [
        (i - first, int(batch.parents[e]) - first, float(batch.parent_weight[e]), int(batch.parent_kind[e]))
        for i in range(first, last)
        for e in range(batch.parent_offsets[i], batch.parent_offsets[i + 1])
    ]


def test_more_shards_than_groups_are_one_a_group() -> None:
    assert [len(shard.batch.group_ids) for shard in cut(batch(), 1000)] == [1] * len(batch().group_ids)


@pytest.mark.parametrize("name", sorted(ATTRIBUTORS))
def test_every_attributor_says_the_same_to_the_bit(name: str) -> None:
    made = ATTRIBUTORS[name]()
    whole, sharded = said(name, made, posted=False), said(name, made, posted=True)
    assert whole.credit.tobytes() == sharded.credit.tobytes()
    assert whole.advantage.tobytes() == sharded.advantage.tobytes()
    assert np.isfinite(whole.credit).any()
    why = why_whole(made, batch())
    told = [note for note in sharded.notes if note.code == "scored-whole"]
    assert [why in note.message for note in told if why is not None] == [True] * (why is not None)
    assert sorted(map(str, whole.notes)) == sorted(str(note) for note in sharded.notes if note not in told)


def test_most_attributors_are_sharded() -> None:
    apart = {name for name, made in ATTRIBUTORS.items() if why_whole(made(), batch()) is None}
    assert {"dag", "grpo", "rloo", "shapley", "tree", "gigpo"} <= apart
    assert {"doubly_robust", "moving_average", "reinforce_pp"}.isdisjoint(apart)


def test_an_error_has_the_words_it_has_over_the_whole_batch() -> None:
    found = []
    for posted in (False, True):
        with pytest.raises(InputError) as caught:
            said("picky", Picky("run-2-1"), posted)
        found.append(str(caught.value))
    assert found[0] == found[1]
    assert f"run-2-1 of {batch().n_trajectories} is not to my taste" in found[0]
