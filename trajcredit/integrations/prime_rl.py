"""prime-rl (559b44772): the exported file as training samples, or advantages on the traces of its orchestrator.

    from prime_rl.orchestrator import algo
    from trajcredit.integrations.prime_rl import algorithm

    algo.ALGORITHM_CLASSES["grpo"] = algorithm(score)  # before the orchestrator is built

`score(traces)` writes those traces to a log, scores it, exports with `verifiers` and returns the path of that file. The
table of algorithms is closed: a new name would need a new config type, so an entry is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from trajcredit.integrations import verifiers
from trajcredit.integrations.reading import fits
from trajcredit.integrations.records import Record, fit, named, numbers, records, trainer

__all__ = ["algorithm", "samples"]

STREAMS = ("token_ids", "mask", "logprobs", "temperatures", "advantages")
INSTALL = "prime-rl from github.com/PrimeIntellect-ai/prime-rl (Python 3.12)"


def samples(path: str | Path) -> Iterator[Any]:
    """A `TrainingSample` a line; InputError names the line whose lists do not fit."""
    rollouts = trainer("prime_rl.transports.rollouts", INSTALL)
    for _, record in records(path, "prime_rl", _check):
        yield rollouts.TrainingSample(**{name: record[name] for name in (*STREAMS, "env_name")})


def algorithm(score: Callable[[Sequence[Any]], str | Path]) -> type:
    """An Algorithm class that takes the advantages of each group from the file that `score` returns the path of."""
    base = trainer("prime_rl.orchestrator.algo.base", INSTALL)

    class FromFile(base.Algorithm):  # type: ignore[misc, name-defined]
        """Advantages of trajcredit, on the sampled tokens of every trainable trace."""

        async def score_group(self, episodes: list[Any]) -> None:
            """Called by the train sink once a group is complete."""
            traces = [trace for _, trace in base.iter_trainable_traces(episodes)]
            exported = verifiers.exported(score(traces))
            for trace in traces:
                verifiers.assign(trace, exported)

    return FromFile


def _check(place: str, record: Record) -> None:
    named(place, record, "env_name")
    fit(place, **{name: record[name] for name in STREAMS})
    for name in ("logprobs", "temperatures", "advantages"):
        numbers(place, name, record[name])
    fits(record["advantages"], record["mask"], place)
