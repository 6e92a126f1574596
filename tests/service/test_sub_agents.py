"""Sub-agents in the store: they share the outcome of the trajectory that started them, as they do without a store."""

from __future__ import annotations

import msgspec

from tests.build import run
from tests.service.scenes import PROJECT, ran
from tests.store.shelf import put
from trajcredit.model import Reward, SpawnedBy, Trajectory
from trajcredit.service import crediting, recalling
from trajcredit.service.attributing import scored
from trajcredit.service.plugins import make
from trajcredit.service.rewarding import late
from trajcredit.service.stateless import batch
from trajcredit.store import Store


def pair(name: str, outcome: float | None) -> list[Trajectory]:
    inner = run("ucra", name=f"{name}/inner", group="inner")
    return [run("ucra", outcome, name=name), msgspec.structs.replace(inner, parent=SpawnedBy(name), role="helper")]


RUNS = [*pair("a", 1.0), *pair("b", 0.0)]


def test_a_run_scores_them_as_files_are_scored(store: Store) -> None:
    put(store, *RUNS)
    made = ran(store, "grpo")
    files = scored(batch(RUNS), "grpo", make("grpo", {}))
    for place, one in enumerate(RUNS):
        first, last = files.batch.span_offsets[place : place + 2]
        want = [None if value != value else value for value in files.credit[first:last].tolist()]
        assert list(crediting.credits(store, PROJECT, f"ext:{one.id}", made.id).credit) == want
    assert crediting.credits(store, PROJECT, "ext:a/inner", made.id).total == 0.5
    assert [note.trajectory for note in made.notes if note.code == "shared-outcome"]


def test_a_late_reward_of_the_parent_reaches_them(store: Store) -> None:
    put(store, *pair("a", None), *pair("b", 0.0))
    assert crediting.credits(store, PROJECT, "ext:a/inner", ran(store, "grpo").id).credit == (None,) * 4
    late(store, PROJECT, b'{"trajectory": "ext:a", "value": 1}')
    found = crediting.credits(store, PROJECT, "ext:a/inner", ran(store, "grpo").id)
    assert found.credit == (None, 0.5, None, 0.5)


def test_what_is_shown_of_one_are_its_own_rewards(store: Store) -> None:
    put(store, *RUNS)
    shown = [recalling.transcript(store, PROJECT, f"ext:{name}").rewards for name in ("a", "a/inner")]
    assert [[reward.value for reward in rewards] for rewards in shown] == [[1.0], []]
    assert isinstance(shown[0][0], Reward)
