"""Which attributor suits a data set: the questions in order, what was found at each, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trajcredit.batching import Batch
from trajcredit.service import advising_judge
from trajcredit.service.advising_facts import LEAST_GROUPS, Facts, facts_of
from trajcredit.service.advising_measured import efficiency, figures
from trajcredit.service.wording import count

__all__ = ["READ", "Advice", "Question", "Recommendation", "advise"]

Answer: TypeAlias = Literal["yes", "no", "in part"]
Numbers: TypeAlias = dict[str, float | int | str | None]

SHARED = 0.5
"""Share of steps in states that a sibling came to too, from which values of states are worth asking: below, most steps
have nothing to be held against."""
SHORT = 4
"""Choices a rollout up to which an episode is short: there a return has little luck in it for lambda to smooth."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the tree: what was found, the numbers behind it, and the answer."""

    question: str
    answer: Answer
    found: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Recommendation:
    """An attributor as `-a` takes it, what it is for, why it, and what it measured (docs/credit.md)."""

    attributor: str
    purpose: Literal["train", "read"]
    why: str
    measured: str | None


@dataclass(frozen=True, slots=True)
class Advice:
    """The walk through the tree. Nothing is recommended to train on where no estimator helps; `missing`: what would."""

    questions: tuple[Question, ...]
    recommended: tuple[Recommendation, ...]
    missing: tuple[str, ...]


def advise(batch: Batch, update_size: int = 256) -> Advice:
    """What suits these trajectories when `update_size` of them make one update of the policy.

    InputError where the batch has no transcripts.
    """
    facts = facts_of(batch)
    questions = [_outcomes(facts)]
    if facts.scored:
        questions += [
            _spread(facts),
            _when(facts),
            _critic(facts),
            _siblings(facts),
            _states(facts),
            _pools(facts),
            _graph(facts),
            _judge(facts),
            _answer(facts),
        ]
    return Advice(tuple(questions), tuple(_recommended(facts, update_size)), tuple(_missing(facts)))


# ---------------------------------------------------------------- questions


def _outcomes(facts: Facts) -> Question:
    found = f"{facts.scored:,} of {_runs(facts.trajectories)} have a reward"
    if facts.source is not None:
        found += f", from {facts.source.replace('_', ' ')}"
    if facts.source in ("judge", "reward_model"):
        found += ": an opinion, so check it against people before it is trained on"
    if facts.preferences:
        found += f"; {_runs(facts.preferences)} say only which answer was preferred"
    if not facts.scored and facts.preferences:
        found += ": preferences alone are for other objectives (DPO and its kin), no attributor here applies"
    answer: Answer = "yes" if facts.scored == facts.trajectories else "in part" if facts.scored else "no"
    numbers: Numbers = {"trajectories": facts.trajectories, "scored": facts.scored, "source": facts.source}
    return Question("Is there an outcome?", answer, found, {**numbers, "preferences": facts.preferences})


def _spread(facts: Facts) -> Question:
    with_siblings = facts.groups - facts.singles
    found = f"{facts.uniform:,} of {count(with_siblings, 'group')} with siblings have equal outcomes throughout"
    if not with_siblings:
        found = f"no group has siblings; outcomes {'differ' if facts.outcomes_differ else 'are all equal'}"
    if facts.uniform:
        found += ", and teach nothing there"
    if not _comparable(facts):
        found += (
            ": no estimator helps here. Sample more rollouts, change the difficulty of the tasks, or start from "
            "supervised traces"
        )
    answer: Answer = "no" if not _comparable(facts) else "in part" if facts.uniform else "yes"
    share = facts.uniform / with_siblings if with_siblings else None
    numbers: Numbers = {"groups_with_siblings": with_siblings, "uniform_groups": facts.uniform, "uniform_share": share}
    return Question("Do outcomes differ where they are compared?", answer, found, numbers)


def _when(facts: Facts) -> Question:
    share = facts.dense / facts.scored
    found = (
        f"{facts.dense:,} of {facts.scored:,} scored trajectories have reward before their last action; "
        f"{facts.choices:g} choices a rollout (median)"
    )
    answer: Answer = "yes" if share > 0.5 else "in part" if facts.dense else "no"
    numbers: Numbers = {"dense": facts.dense, "dense_share": share, "choices_median": facts.choices}
    return Question("Is the reward dense?", answer, found, numbers)


def _critic(facts: Facts) -> Question:
    numbers: Numbers = {
        "valued_trajectories": facts.valued,
        "error_against_spread": facts.critic_error,
        "error_low": facts.critic_low,
        "error_high": facts.critic_high,
    }
    question = "Is there a critic to trust?"
    if facts.critic_error is None:
        found = "no values are logged" if not facts.valued else "values are logged, too few groups to judge them by"
        return Question(question, "no", found, numbers)
    found = (
        f"values on every action of {facts.valued:,} of {facts.scored:,} scored trajectories; their squared error is "
        f"{facts.critic_error:.2f} of what the mean of the siblings leaves (95 % interval {facts.critic_low:.2f} to "
        f"{facts.critic_high:.2f}; out of sample if they were logged before the outcome was known)"
    )
    if not facts.critic_trusted:
        found += ": not clearly below 1, so as good as no critic"
    elif facts.valued < facts.scored:
        found += "; the others would stay unscored"
    answer: Answer = "no" if not facts.critic_trusted else "yes" if facts.valued == facts.scored else "in part"
    return Question(question, answer, found, numbers)


def _siblings(facts: Facts) -> Question:
    found = (
        f"{count(facts.groups, 'group')}, {facts.smallest:,} to {facts.largest:,} scored rollouts each (median "
        f"{facts.rollouts:g}), {count(facts.singles, 'group')} of one"
    )
    if facts.repeated:
        same = "equals another" if facts.repeated == 1 else "equal others"
        found += f"; {_runs(facts.repeated)} {same} span by span: a run that was logged twice counts twice"
    answer: Answer = "no" if facts.singles == facts.groups else "in part" if facts.singles else "yes"
    numbers: Numbers = {
        "groups": facts.groups,
        "rollouts_median": facts.rollouts,
        "rollouts_least": facts.smallest,
        "rollouts_most": facts.largest,
        "groups_of_one": facts.singles,
        "repeated": facts.repeated,
    }
    return Question("Are there at least two rollouts a task?", answer, found, numbers)


def _states(facts: Facts) -> Question:
    found = (
        f"{facts.met:,} of {count(facts.steps, 'step')} after the first were taken in a state that a sibling came to "
        f"(same knowledge, whatever its order)"
    )
    share = facts.met / facts.steps if facts.steps else 0.0
    answer: Answer = "yes" if share >= SHARED else "in part" if facts.met else "no"
    return Question(
        "Do siblings share states?",
        answer,
        found,
        {"steps": facts.steps, "shared_steps": facts.met, "shared_share": share},
    )


def _pools(facts: Facts) -> Question:
    largest = max(facts.pools, default=0)
    found = (
        f"{count(len(facts.pools), 'pool')} of tasks that share tools, at most {count(largest, 'group')} with siblings "
        f"in one (a critic needs {LEAST_GROUPS})"
    )
    if facts.fitted and facts.fitted < facts.compared:
        found += f"; {_runs(facts.compared - facts.fitted)} of pools too small to learn from"
    if facts.merged:
        found += f"; {_runs(facts.merged)} of small pools share one model"
    if facts.fitted:
        found += (
            f". Fitted to these outcomes, its forecasts hold out of fold in the pools of {facts.believed:,} of "
            f"{_runs(facts.compared)}"
        )
    if facts.slopes:
        slopes = sorted({f"{slope:.2f}" for slope in (min(facts.slopes), max(facts.slopes))}, key=float)
        found += f" (slope of outcomes on forecasts {' to '.join(slopes)})"
    answer: Answer = "no" if not facts.believed else "yes" if facts.believed == facts.compared else "in part"
    numbers: Numbers = {
        "pools": len(facts.pools),
        "groups_in_largest_pool": largest,
        "trajectories_with_model": facts.fitted,
        "trajectories_with_skill": facts.believed,
        "slope_least": min(facts.slopes, default=None),
        "slope_most": max(facts.slopes, default=None),
    }
    return Question("Can a critic be fitted to tasks that share tools?", answer, found, numbers)


def _graph(facts: Facts) -> Question:
    share = facts.off_path / facts.actions if facts.actions else 0.0
    found = (
        f"{count(facts.edges, 'edge')} of which {facts.data_edges:,} carry a value or a state; {facts.off_path:,} of "
        f"{count(facts.actions, 'action')} are on no path to the outcome, {count(facts.effects, 'call')} changed "
        f"state, {facts.alike:,} of {count(facts.calls, 'call')} on a path were made by a sibling too"
    )
    answer: Answer = "yes" if facts.off_path else "no"
    numbers: Numbers = {
        "edges": facts.edges,
        "data_edges": facts.data_edges,
        "off_path": facts.off_path,
        "off_path_share": share,
        "effects": facts.effects,
        "calls_on_path": facts.calls,
        "calls_of_siblings": facts.alike,
    }
    return Question("Does the graph show irrelevant calls, side effects?", answer, found, numbers)


def _judge(facts: Facts) -> Question:
    checked = facts.calibration
    found = f"{count(facts.judged, 'action')} with a judge's score"
    found += f"; {'' if facts.judged else 'rules: '}{checked.says}"
    if checked.calibrated != "better":
        found += ": to read, never to train on"
    found += advising_judge.told(facts.unheard)
    numbers: Numbers = {
        "judged_actions": facts.judged,
        "against_base_rate": checked.raw,
        "calibrated_against_base_rate": checked.calibrated,
        **advising_judge.numbers(facts.unheard),
    }
    answer: Answer = "yes" if checked.calibrated == "better" else "no"
    return Question("Does a judge, once calibrated, foretell outcomes?", answer, found, numbers)


def _answer(facts: Facts) -> Question:
    found = f"{_runs(facts.informed)} with log-probs of the known answer on every turn"
    if facts.answered:
        found += f"; {_runs(facts.answered)} with the answer itself: `clues` tells which calls brought it in, to read"
    answer: Answer = "yes" if facts.informed == facts.scored else "in part" if facts.informed else "no"
    numbers: Numbers = {"informed": facts.informed, "answered": facts.answered}
    return Question("Are log-probs of the known answer logged?", answer, found, numbers)


def _runs(n: int) -> str:
    return f"{n:,} trajector{'y' if n == 1 else 'ies'}"


# ---------------------------------------------------------------- what follows


def _comparable(facts: Facts) -> bool:
    """Outcomes differ within a task; or between tasks, where there is one rollout of each to compare."""
    return facts.mixed > 0 or (facts.singles > 0 and facts.outcomes_differ)


READ = "doubly_robust:w=0,part=0.3"
"""What found culprits best, where the critic is good and where it is worth nothing."""
WHY_READ = (
    "siblings tell which choice most likely spoilt a run, and forecasts count as far as they foretell outcomes; "
    "w=0 leaves out what is the same on every action"
)


def _recommended(facts: Facts, update_size: int) -> list[Recommendation]:
    return [*_by_outcomes(facts, update_size), *_by_judge(facts)]


def _by_judge(facts: Facts) -> list[Recommendation]:
    """To read runs that outcomes say nothing of; to train only where calibrated scores beat the base rate."""
    found, calibration = facts.unheard, facts.calibration
    if not found.findings or _valued(facts):
        return []
    why = advising_judge.why(found, calibration)
    read = Recommendation(advising_judge.JUDGE, "read", why, advising_judge.MEASURED)
    if calibration.calibrated != "better":
        return [read]
    return [read, Recommendation(advising_judge.CALIBRATED, "train", advising_judge.trained(calibration), None)]


def _by_outcomes(facts: Facts, update_size: int) -> list[Recommendation]:
    if not _comparable(facts):
        return []
    usable = _usable(facts, update_size)
    name, why = max(usable, key=lambda one: efficiency(one[0], update_size))
    train = Recommendation(name, "train", why, figures(name, update_size))
    if _valued(facts):
        long = facts.choices > SHORT or facts.dense * 2 > facts.scored
        why = "a critic whose error is clearly below the spread of returns, and "
        why += "long episodes or dense rewards" if long else "short episodes: returns minus V"
        train = Recommendation("gae" if long else "gae:lam=1", "train", why, None)
    if not facts.mixed:
        return [train]
    # the figures were measured with critics that foretell outcomes: they are no promise where this one does not
    measured = figures(READ, update_size) if facts.believed else None
    return [train, Recommendation(READ, "read", WHY_READ, measured)]


def _valued(facts: Facts) -> bool:
    """Logged values of a critic to trust, everywhere."""
    return facts.critic_trusted and facts.valued == facts.scored


def _usable(facts: Facts, update_size: int) -> list[tuple[str, str]]:
    """Attributors that these data can run to some effect, and the reason; the plainest first."""
    if not facts.mixed:
        why = (
            "no task has rollouts whose outcomes differ: nothing but earlier outcomes to compare with; expect variance"
        )
        return [("moving_average", why)]
    found = [("rloo", "siblings to compare with, and nothing that measured better can run on these data")]
    if facts.off_path:
        why = "calls on no path to the outcome, whose credit is damped: edges may be missing, so it is not deleted"
        found.append(("dag:off_path=0.3", why))
    if facts.alike:
        why = f"{facts.alike:,} of {count(facts.calls, 'call')} on a path to the outcome were made by a sibling too"
        found.append(("shapley", why))
    if facts.steps and facts.met / facts.steps >= SHARED:
        found.append(("tree", "siblings that come to the same states"))
        found.append(("gigpo", "siblings that come to the same states"))
    if facts.believed:
        size = "" if update_size == 256 else f":update_size={update_size}"
        why = "a critic fitted to tasks that share tools foretells their outcomes out of fold"
        if facts.believed < facts.compared:
            why += f", for {facts.believed:,} of {_runs(facts.compared)}; the others get rloo"
        found.append((f"doubly_robust{size}", why))
        if facts.believed == facts.compared:
            found.append(("gae:critic=compatible", why))
    return found


def _missing(facts: Facts) -> Sequence[str]:
    """What would let a better one run."""
    found = []
    if facts.scored < facts.trajectories:
        found.append(f"rewards of {_runs(facts.trajectories - facts.scored)} (`--rewards FILE`)")
    if not facts.scored:
        return found
    if not _comparable(facts):
        found.append("outcomes that differ within a task: more rollouts, or tasks of another difficulty")
    if facts.singles:
        found.append(f"a second rollout of {count(facts.singles, 'task')}")
    if not facts.fitted:
        most = max(facts.pools, default=0)
        found.append(
            f"for doubly_robust: {LEAST_GROUPS} tasks that share tools, with two scored rollouts each (here {most})"
        )
    elif facts.believed < facts.compared:
        found.append(
            "for doubly_robust: more tasks, or more rollouts whose outcomes differ, until the fitted critic foretells "
            f"those of {_runs(facts.compared - facts.believed)}"
        )
    if facts.critic_error is None:
        found.append("for gae: `value` on every action, logged before the outcome was known")
    elif not facts.critic_trusted:
        found.append("for gae: a critic whose error is clearly below what the mean of the siblings leaves")
    elif facts.valued < facts.scored:
        found.append(f"for gae: values of {_runs(facts.scored - facts.valued)}")
    return found
