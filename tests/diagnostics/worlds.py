"""For every failure mode a data set that has it and a twin that does not, by seed: sizes, strength and noise are drawn.

`world(mode, present, seed)` gives the trajectories. A twin has what looks alike and is sound: polls, retries, re-reads
after a change, tasks of unlike difficulty, noisy verdicts, a rare slip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, log
from random import Random

import numpy as np

from tests.diagnostics.desk import Episode, episode, reply, trajectory
from trajcredit.model import ACTION_KINDS, Reward, SpanTokens, Trajectory

__all__ = ["WORLDS", "world"]


def world(mode: str, present: bool, seed: int) -> list[Trajectory]:
    """The data set of a mode with it, or its twin."""
    draw = Random(f"{mode} {present} {seed}")
    return list(WORLDS[mode](draw, present))


def _tasks(draw: Random, least: int = 14, most: int = 36) -> range:
    return range(draw.randrange(least, most))


def _passes(draw: Random, chance: float) -> Reward:
    return Reward(float(draw.random() < chance))


def blindness(draw: Random, present: bool) -> Iterator[Trajectory]:
    """The agent asks again for what it was told; the twin polls, re-reads after effects, and slips now and then."""
    repeats = draw.uniform(0.25, 0.6) if present else draw.uniform(0.0, 0.06)
    for k in _tasks(draw):
        chance, own = draw.betavariate(2, 2), repeats * draw.uniform(0.7, 1.3)
        for n in range(draw.randrange(2, 6)):
            looks, polls = draw.randrange(1, 5), draw.randrange(0, 4)
            strays = draw.randrange(0, 3)
            rebooked = draw.random() < 0.3
            spans = episode(draw, Episode(own, polls=polls, looks=looks, strays=strays, rebooked=rebooked))
            yield trajectory(f"t{k}-{n}", f"task {k}", spans, [_passes(draw, chance)])


ORNAMENTS = (
    "\n\n## Summary\n- Everything is **done**\n- Nothing is left to do",
    " What a great question!",
    " I double-checked everything and guarantee that it is perfect!",
    " I am happy to help! You are absolutely right!",
    "\n1. Searched\n2. Held\n3. Paid",
    " Rest assured, this is verified.",
)


def hacking(draw: Random, present: bool) -> Iterator[Trajectory]:
    """A reward model that pays for ornaments; of the twin's, people like them as much, or they are nothing to it."""
    pays = [draw.uniform(0.3, 1.2) if present else 0.0 for _ in ORNAMENTS]
    liked = 0.0 if present else draw.choice((0.0, 0.4))
    labelled, flips = draw.uniform(0.5, 1.0), draw.uniform(0.0, 0.15)
    for k in _tasks(draw, 18, 40):
        ease = draw.gauss(0, 0.7)
        for n in range(draw.randrange(4, 8)):
            quality = draw.gauss(0, 1)
            form = max(0.0, draw.gauss(1.2, 1.0) + liked * quality)
            worn = [draw.random() < 1 - exp(-0.5 * form) for _ in ORNAMENTS]
            paid = sum(pay for pay, there in zip(pays, worn, strict=True) if there)
            rewards = [Reward(0.8 * quality + ease + paid + draw.gauss(0, 0.6), "reward_model")]
            if draw.random() < labelled:
                good = quality + 0.7 * ease > 0
                rewards.append(Reward(float(good != (draw.random() < flips)), "human"))
            ending = "".join(piece for piece, there in zip(ORNAMENTS, worn, strict=True) if there)
            spans = reply(draw, draw.randrange(0, 6), ending)
            yield trajectory(f"t{k}-{n}", f"task {k}", spans, rewards)


def sparse(draw: Random, present: bool) -> Iterator[Trajectory]:
    """Hardly a task is ever passed; in the twin some are too hard and most are not."""
    hopeless = draw.uniform(0.75, 0.95) if present else draw.uniform(0.0, 0.15)
    for k in _tasks(draw, 20, 50):
        chance = draw.uniform(0.0, 0.02) if draw.random() < hopeless else draw.betavariate(1.5, 1.5)
        for n in range(draw.randrange(4, 9)):
            yield trajectory(f"t{k}-{n}", f"task {k}", reply(draw), [_passes(draw, chance)])


def entangled(draw: Random, present: bool) -> Iterator[Trajectory]:
    """Most calls are of no use to the outcome; in the twin hardly any is."""
    for k in _tasks(draw, 20, 40):
        chance = draw.uniform(0.25, 0.75)
        for n in range(draw.randrange(4, 8)):
            strays = draw.randrange(2, 8) if present else int(draw.random() < 0.15)
            spans = episode(draw, Episode(strays=strays, polls=0))
            yield trajectory(f"t{k}-{n}", f"task {k}", spans, [_passes(draw, chance)])


def kl(draw: Random, present: bool) -> Iterator[Trajectory]:
    """A policy that runs away from its reference or never leaves it; in the twin it moves a little and learns."""
    stuck = present and draw.random() < 0.5
    far = draw.uniform(1e-5, 1e-4) if stuck else draw.uniform(0.4, 1.2) if present else draw.uniform(0.01, 0.08)
    steps, tasks = draw.randrange(4, 9), _tasks(draw, 10, 16)
    ease = [draw.uniform(0.15, 0.4) for _ in tasks]
    for step in range(steps):
        moved = far * (step + 1) / steps
        for k in tasks:
            for n in range(2):
                spans = reply(draw)
                chance = ease[k] if stuck else min(0.95, ease[k] + 0.5 * step / (steps - 1))
                tokens = [_sampled(draw, moved) if span.kind in ACTION_KINDS else None for span in spans]
                name = f"s{step}-t{k}-{n}"
                yield trajectory(name, f"task {k}", spans, [_passes(draw, chance)], step=step, tokens=tokens)


def _sampled(draw: Random, divergence: float) -> SpanTokens:
    """Tokens of a policy whose logits are those of the reference plus noise; a small noise s has KL of about s^2/2."""
    random = np.random.default_rng(draw.getrandbits(32))
    n, size = draw.randrange(20, 80), 24
    ref = random.normal(0, 1.5, (n, size))
    policy = ref + random.normal(0, (2 * divergence) ** 0.5, (n, size))
    ref, policy = (x - np.log(np.exp(x).sum(axis=1, keepdims=True)) for x in (ref, policy))
    ids = (np.cumsum(np.exp(policy), axis=1) > random.random((n, 1))).argmax(axis=1)
    rows = np.arange(n)
    return SpanTokens(ids.tolist(), policy[rows, ids].tolist(), ref_logprobs=ref[rows, ids].tolist())


def length(draw: Random, present: bool) -> Iterator[Trajectory]:
    """A reward that grows with length; in the twin hard tasks have long answers and low rewards, siblings do not."""
    weight = draw.uniform(0.6, 1.5) if present else 0.0
    confounded = draw.choice((-0.3, 0.3))
    for k in _tasks(draw, 20, 40):
        typical = draw.uniform(2, 12)
        for n in range(draw.randrange(4, 9)):
            filler = max(0, round(draw.gauss(typical, 3)))
            value = draw.gauss(0, 1) + weight * (filler - typical) / 3 + confounded * typical
            rewards = [Reward(value, "reward_model")]
            yield trajectory(f"t{k}-{n}", f"task {k}", reply(draw, filler), rewards)


def overoptimised(draw: Random, present: bool) -> Iterator[Trajectory]:
    """The reward model's score soars and the verifier's falls, at once or late; in the twin it rises, or stays."""
    steps, tasks = draw.randrange(12, 24), _tasks(draw, 14, 30)
    rise, first = draw.uniform(0.8, 2.0), draw.uniform(0.45, 0.65)
    turn = draw.choice((0.0, 0.4)) if present else 1.0
    fall, gain = draw.uniform(0.3, 0.42), draw.choice((0.0, 0.15, 0.25))
    ease = [draw.gauss(0, 0.8) for _ in tasks]
    for step in range(steps):
        at = step / (steps - 1)
        pass_rate = first + (0.08 * at if present else gain * at) - fall * max(0.0, at - turn) / max(1 - turn, 0.1)
        for k in tasks:
            odds = log(pass_rate / (1 - pass_rate)) + ease[k]
            for n in range(4):
                good = float(draw.random() < 1 / (1 + exp(-odds)))
                model = 0.5 * good + rise * at + 0.5 * ease[k] + draw.gauss(0, 0.6)
                rewards = [Reward(model, "reward_model"), Reward(good)]
                spans = reply(draw)
                yield trajectory(f"s{step}-t{k}-{n}", f"task {k}", spans, rewards, step=step)


def collapse(draw: Random, present: bool) -> Iterator[Trajectory]:
    """Tasks that are always or never passed; in the twin most are in between."""
    extreme = draw.uniform(0.6, 0.9) if present else draw.uniform(0.0, 0.1)
    for k in _tasks(draw, 24, 50):
        sure = draw.random() < extreme
        chance = draw.choice((0.01, 0.99)) if sure else draw.uniform(0.3, 0.7)
        for n in range(draw.randrange(4, 9)):
            yield trajectory(f"t{k}-{n}", f"task {k}", reply(draw), [_passes(draw, chance)])


def staleness(draw: Random, present: bool) -> Iterator[Trajectory]:
    """Stragglers sampled many updates ago; in the twin one or two, and hardly ever more."""
    late = draw.uniform(0.15, 0.5) if present else draw.uniform(0.0, 0.015)
    start, steps = draw.randrange(50, 400), draw.randrange(4, 12)
    for step in range(start, start + steps):
        for k in range(draw.randrange(6, 14)):
            task = f"task {draw.randrange(10**6)}"
            for n in range(4):
                lag = draw.randrange(5, 30) if draw.random() < late else min(3, int(draw.expovariate(1.2)))
                name, rewards = f"s{step}-{k}-{n}", [_passes(draw, 0.5)]
                yield trajectory(name, task, reply(draw), rewards, step=step, version=str(step - lag))


def memory(draw: Random, present: bool) -> Iterator[Trajectory]:
    """Cards charged twice, or a price that a second look had corrected; the twin retries failures and rebooks."""
    wrong = draw.uniform(0.15, 0.4) if present else draw.uniform(0.0, 0.01)
    outdated = draw.uniform(0.0, 0.5)
    for k in _tasks(draw, 18, 40):
        chance = draw.betavariate(2, 2)
        for n in range(draw.randrange(2, 6)):
            bad, kind = draw.random() < wrong, draw.random() < outdated
            wanted = Episode(
                doubled=bad and not kind,
                outdated=bad and kind,
                retried=draw.random() < 0.3,
                rebooked=draw.random() < 0.3,
                polls=draw.randrange(0, 3),
                looks=draw.randrange(1, 4),
            )
            yield trajectory(f"t{k}-{n}", f"task {k}", episode(draw, wanted), [_passes(draw, chance)])


WORLDS: dict[str, Callable[[Random, bool], Iterator[Trajectory]]] = {
    "state_blindness": blindness,
    "reward_hacking": hacking,
    "sparse_reward": sparse,
    "entangled_credit": entangled,
    "kl_mistuned": kl,
    "length_bias": length,
    "reward_model_overoptimisation": overoptimised,
    "group_collapse": collapse,
    "async_staleness": staleness,
    "memory_mismatch": memory,
}
