"""prime-rl: an algorithm that takes its advantages from a file.

prime-rl wants Python 3.12 and is on no index: the base module here has the two names of
orchestrator/algo/base.py (559b44772) that the plug-in uses.
"""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace

import pytest

from tests.exporters.token_rows import two_turns
from trajcredit.errors import InputError
from trajcredit.exporters.prime_rl import PrimeRl
from trajcredit.exporters.verifiers import Verifiers
from trajcredit.integrations.prime_rl import STREAMS, algorithm, samples


class Algorithm:
    def __init__(self, config, policy_pool):
        self.config = config


def trainable(episodes):
    for episode in episodes:
        for trace in episode.traces:
            if trace.ok:
                yield episode, trace


def written(exporter, path):
    with path.open("wb") as out:
        exporter.encode(iter([two_turns()]), out)
    return path


@pytest.fixture
def base(monkeypatch):
    stand_in = SimpleNamespace(Algorithm=Algorithm, iter_trainable_traces=trainable)
    monkeypatch.setitem(sys.modules, "prime_rl.orchestrator.algo.base", stand_in)


def test_a_group_is_scored_at_once_and_every_trainable_trace_gets_its_numbers(base, tmp_path) -> None:
    path = written(Verifiers(), tmp_path / "a.jsonl")
    nodes = [
        SimpleNamespace(parent=None, token_ids=[7, 8], mask=[False, False], advantages=None),
        SimpleNamespace(parent=0, token_ids=[11, 12], mask=[True, True], advantages=None),
        SimpleNamespace(parent=1, token_ids=[21, 22, 23, 13], mask=[False, False, False, True], advantages=None),
    ]
    good, bad = SimpleNamespace(id="t", ok=True, nodes=nodes), SimpleNamespace(id="u", ok=False, nodes=[])
    asked = []

    def score(traces):
        asked.append(traces)
        return path

    made = algorithm(score)("config", None)
    asyncio.run(made.score_group([SimpleNamespace(traces=[good, bad])]))
    assert asked == [[good]]
    assert [node.advantages for node in nodes] == [None, [0.5, 0.5], [-0.25]]


def test_samples_are_made_of_the_fields_of_a_training_sample(monkeypatch, tmp_path) -> None:
    stand_in = SimpleNamespace(TrainingSample=lambda **fields: fields)
    monkeypatch.setitem(sys.modules, "prime_rl.transports.rollouts", stand_in)
    path = written(PrimeRl(env_name="booking"), tmp_path / "a.jsonl")
    [fields] = samples(path)
    assert set(fields) == {*STREAMS, "env_name"}
    assert fields["advantages"] == [0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, -0.25]
    path.write_text(path.read_text().replace('"mask":[false,false,true', '"mask":[false,false,false'))
    with pytest.raises(InputError, match=r"a\.jsonl:1: token 2 has advantage 0.5 and mask 0"):
        list(samples(path))


def test_without_prime_rl_it_says_what_to_install(tmp_path) -> None:
    with pytest.raises(InputError, match="this plug-in needs prime-rl"):
        next(samples(tmp_path / "a.jsonl"))
    with pytest.raises(InputError, match="this plug-in needs prime-rl"):
        algorithm(lambda traces: "a.jsonl")
