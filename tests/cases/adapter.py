"""Cases made from public bug reports -> the public API -> what the case expects. One function a case format.

A case this version cannot run yet raises NotYetError with the part that is missing; nothing is special-cased by name.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

import trajcredit as tc
from tests.cases.logs import LETTERS, LOGS, Case, about
from tests.cases.states import STATES
from trajcredit import kernels
from trajcredit.arrays import F64
from trajcredit.model import Edge, Note, Reward, Span, SpanTokens, Trajectory, TurnTokens
from trajcredit.service.plugins import exporter_of
from trajcredit.tokens import align, padded
from trajcredit.tokens.territories import Piece, owner_of_tokens

__all__ = ["NotYetError", "run_case"]


class NotYetError(Exception):
    """The part of the product that this case is about is not built yet."""


def run_case(case: Case) -> None:
    """Run one case and assert what it expects."""
    runner = RUNNERS.get(case["format"])
    if runner is None:
        raise NotYetError(f"no reader or exporter for {case['format']} yet")
    runner(case)


# ---------------------------------------------------------------- numbers


def _exported(numbers: F64) -> F64:
    """What an exporter writes: 0 where nothing is scored (with mask 0)."""
    return np.nan_to_num(numbers, nan=0.0)


def _close(got: npt.ArrayLike, wanted: npt.ArrayLike, tolerance: float) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=0, atol=tolerance)


def _estimator(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The attributor and its parameters that a case's `params` ask for."""
    name = params["estimator"]
    known = {"ddof", "eps", "gamma", "lam", "estimator", "variants", "metric"}
    if unknown := set(params) - known:
        raise NotYetError(f"no parameter {', '.join(sorted(unknown))} yet")
    given: dict[str, Any] = {key: params[key] for key in ("ddof", "eps") if key in params}
    if name == "grpo":
        return "grpo", given
    if name == "mean_only":
        return "grpo", {"scale": "none"}
    if name == "loo_norm":
        return "grpo", given | {"flavour": "nemo"}
    if name in ("rloo", "gae", "rtg"):
        return name, {key: params[key] for key in ("gamma", "lam") if key in params}
    raise NotYetError(f"no estimator {name} yet")


def _run(runs: Sequence[Trajectory], params: dict[str, Any]) -> tc.Credit:
    name, given = _estimator(params)
    return tc.attribute(tc.batch(runs), name, **given)


def _warned(notes: Sequence[Note], warnings: Sequence[dict[str, str]], key: str) -> None:
    for warning in warnings:
        assert any(note.trajectory == warning[key] for note in about(notes, warning)), warning


def _one_action(row: dict[str, Any]) -> Trajectory:
    rewards = [] if row["reward"] is None else [Reward(float(row["reward"]))]
    return Trajectory(id=row["id"], group=row["group"], rewards=rewards, spans=[Span("assistant", 0)], terminated=True)


def _withheld(case: Case) -> None:
    """A token a rollout, exported: what is stale shapes the baseline and is not in the file."""
    params, expect = dict(case["input"]["params"]), case["expect"]
    assert params.pop("stale") == "withhold"
    lag = {"current_version": params.pop("current_version"), "max_lag": params.pop("max_lag")}
    runs = [
        replace(
            _one_action(row),
            policy_version=None if row.get("policy_version") is None else str(row["policy_version"]),
            turns=[TurnTokens(0, prompt_ids=[1], sampled_ids=[2])],
        )
        for row in case["input"]["trajectories"]
    ]
    out = io.BytesIO()
    exporter_of("tokens:" + ",".join(f"{key}={value}" for key, value in lag.items()))([_run(runs, params)], out)
    written = {row["trajectory_id"]: row["advantages"] for row in map(json.loads, out.getvalue().splitlines())}
    assert set(written) == set(expect["advantages"])
    assert not set(written) & set(expect["not_exported"])
    for name, wanted in expect["advantages"].items():
        _close(written[name], [wanted], max(expect["tolerance"], 1e-6))  # token files hold float32


def _group_scores(case: Case) -> None:
    rows, params, expect = case["input"]["trajectories"], case["input"]["params"], case["expect"]
    if "stale" in params:
        _withheld(case)
        return
    for variant in params.get("variants", [{}]):
        credit = _run([_one_action(row) for row in rows], params | {k: v for k, v in variant.items() if k != "name"})
        wanted = expect["variants"][variant["name"]] if variant else expect["advantages"]
        _close(_exported(credit.advantage), [wanted[row["id"]] for row in rows], expect["tolerance"])
        notes = (*credit.batch.notes, *credit.notes)
        _warned(notes, expect.get("warn", []), "trajectory")
        degenerate = {note.group for note in notes if note.code == "zero-variance"}
        assert set(expect.get("zero_variance_groups", ())) <= degenerate
        if "sum" in expect:
            assert abs(sum(credit.advantage) - expect["sum"]) <= expect["tolerance"]


def _rollouts(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["rollout"], []).append(row)
    return found


def _turn_rows(case: Case) -> None:
    rows, expect = case["input"]["rows"], case["expect"]
    runs = [
        Trajectory(
            id=name,
            group=of[0]["group"],
            rewards=[Reward(float(of[0]["reward"]))],
            spans=[Span("assistant", row["turn"]) for row in of],
            terminated=True,
        )
        for name, of in _rollouts(rows).items()
    ]
    if "mean_reward" in expect:
        _close([float(np.nanmean(tc.batch(runs).outcome))], [expect["mean_reward"]], expect["tolerance"])
        return
    credit = _run(runs, case["input"]["params"])
    _close(credit.advantage, expect["row_advantages"], expect["tolerance"])
    first = [int(offset) for offset in credit.batch.span_offsets[:-1]]
    wanted = [expect["rollout_advantages"][t.id] for t in runs]
    _close(credit.advantage[first], wanted, expect["tolerance"])


def _masked(mask: Sequence[int], turn: int, values: Sequence[float] | None = None) -> list[Span]:
    """A token a span: sampled ones are actions, the others observations."""
    return [
        Span("assistant" if sampled else "user", turn, value=None if values is None else values[i])
        for i, sampled in enumerate(mask)
    ]


def _placed(rewards: Sequence[float]) -> list[Reward]:
    return [Reward(float(reward), span=k) for k, reward in enumerate(rewards)]


def _step_rows(case: Case) -> None:
    rows, expect = case["input"]["rows"], case["expect"]
    runs = [
        Trajectory(
            id=name,
            group=of[0]["group"],
            rewards=[Reward(float(of[0]["reward"]))],
            spans=[span for turn, row in enumerate(of) for span in _masked(row["mask"], turn)],
            terminated=True,
        )
        for name, of in _rollouts(rows).items()
    ]
    credit = _run(runs, case["input"]["params"])
    wanted: dict[str, list[float]] = {}
    for row, numbers in zip(rows, expect["token_advantages"], strict=True):
        wanted.setdefault(row["rollout"], []).extend(numbers)
    _close(_exported(credit.advantage), [x for t in runs for x in wanted[t.id]], expect["tolerance"])
    _warned((*credit.batch.notes, *credit.notes), expect.get("warn", []), "rollout")


def _token_rows(case: Case) -> None:
    rows, expect = case["input"]["rows"], case["expect"]
    runs = [
        Trajectory(
            id=f"row {i}",
            rewards=_placed(row["rewards"]) if "rewards" in row else [Reward(row["reward"])],
            spans=_masked(row["mask"], 0, row["values"]),
            truncated=row.get("truncated", False),
            bootstrap=row.get("bootstrap_value"),
        )
        for i, row in enumerate(rows)
    ]
    credit = _run(runs, case["input"]["params"])
    _close(_exported(credit.advantage), np.concatenate(expect["advantages"]), expect["tolerance"])
    if "returns" in expect:
        returns = credit.advantage + credit.batch.values
        _close(_exported(returns), np.concatenate(expect["returns"]), expect["tolerance"])


def _token_whiten(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    numbers, mask = np.array(given["advantages"], dtype=np.float64), np.array(given["mask"])
    how = kernels.Whitening(given["params"]["ddof"], given["params"]["eps"], "outside")
    _close(kernels.padded_whiten(numbers, mask, how), expect["whitened"], expect["tolerance"])


def _turn_chain(case: Case) -> None:
    turns, expect = case["input"]["turns"], case["expect"]
    rewards = _placed([turn["reward"] for turn in turns])
    chain = Trajectory(
        id="chain", rewards=rewards, spans=[Span("assistant", k) for k in range(len(turns))], terminated=True
    )
    credit = _run([chain], {"estimator": "rtg", **case["input"]["params"]})
    _close(credit.credit, expect["turn_returns"], expect["tolerance"])
    tokens = np.repeat(credit.credit, [turn["tokens"] for turn in turns])
    _close(tokens, expect["token_returns"], expect["tolerance"])


def _credit_graph(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    place = {label: i for i, label in enumerate(given["order"])}
    calls = {result: place[call] for call, result in given["pairs"]}
    spans = [
        Span(LETTERS[label[0]], i, name="look" if label[0] == "c" else None, result_of=calls.get(label))
        for label, i in place.items()
    ]
    edges = [Edge(place[parent], place[child], "explicit") for parent, child in given["data_edges"]]
    run = Trajectory(id="run", group="g", rewards=[Reward(given["reward"])], spans=spans, edges=edges, terminated=True)
    # the leave-one-out baseline of a group of two is the other's reward
    other = Trajectory(
        id="other", group="g", rewards=[Reward(given["baseline"])], spans=[Span("assistant", 0)], terminated=True
    )
    batch = tc.batch([run, other], writes={"look": False})
    masked, flat = tc.attribute(batch, "dag", base="rloo"), tc.attribute(batch, "rloo")
    for credit, wanted in ((masked, expect["credit"]), (flat, expect["reward_to_go"])):
        _close([credit.credit[place[label]] for label in wanted], list(wanted.values()), expect["tolerance"])


# ---------------------------------------------------------------- tokens


def _token_turns(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    spans, advantages, turns = [], [], []
    for k, turn in enumerate(given["turns"]):
        turns.append(TurnTokens(k, turn["prompt_ids"], turn["sampled_ids"]))
        for owned in turn["span_advantages"]:
            ids = turn["sampled_ids"][owned["from"] : owned["to"]]
            spans.append(Span(LETTERS[owned["span"][0]], k, text="said", tokens=SpanTokens(ids)))
            advantages.append(owned["advantage"])
    run = Trajectory(id="run", spans=spans, turns=turns)
    aligned = align(run, np.array(advantages), "g", max_tokens=given.get("max_tokens"))
    assert not aligned.failures
    assert len(aligned.rows) == len(expect["rows"])
    for row, wanted in zip(aligned.rows, expect["rows"], strict=True):
        room = given.get("pad_to", len(row.token_ids)) - len(row.prompt_ids)
        arrays = padded([row], given.get("pad_id", -1), response_length=room)
        before = np.zeros_like(row.prompt_ids)
        assert [*arrays["prompts"][0], *arrays["responses"][0]] == wanted["token_ids"]
        assert [*before, *arrays["response_mask"][0]] == wanted["mask"]
        _close([*before, *arrays["advantages"][0]], wanted["advantages"], 1e-6)  # float32
        assert len(row.token_ids) == wanted.get("length", len(wanted["token_ids"]))
        assert expect.get("must_not_contain_id") not in row.token_ids
    if "sampled_tokens_trained" in expect:
        assert sum(row.trained for row in aligned.rows) == expect["sampled_tokens_trained"]
    if "warn" in expect:
        assert list(aligned.notes) == expect["warn"]


def _token_offsets(case: Case) -> None:
    given, expect = case["input"], case["expect"]
    pieces = [Piece(i, span["char_from"], span["char_to"]) for i, span in enumerate(given["spans"])]
    owner = owner_of_tokens(np.array(given["token_offsets"]), pieces)
    assert (owner >= 0).astype(int).tolist() == expect["mask"]
    numbers = np.array([span["advantage"] for span in given["spans"]])
    _close(np.where(owner >= 0, numbers[owner], 0), expect["advantages"], 0)


def _token_mask_input(case: Case) -> None:
    given = case["input"]
    tokens = SpanTokens(given["token_ids"], mask=given["assistant_mask"])
    assert given["assistant_spans"] == 1
    aligned = align(
        Trajectory(id="run", spans=[Span("assistant", 0, text="said", tokens=tokens)]), np.array([1.0]), "g"
    )
    assert not aligned.rows
    [failure] = aligned.failures
    for word in case["expect"]["error"]["mentions"]:
        assert word in failure.reason


RUNNERS: dict[str, Callable[[Case], None]] = {
    **LOGS,
    **STATES,
    "group_scores": _group_scores,
    "turn_rows": _turn_rows,
    "step_rows": _step_rows,
    "token_rows": _token_rows,
    "token_whiten": _token_whiten,
    "turn_chain": _turn_chain,
    "credit_graph": _credit_graph,
    "token_turns": _token_turns,
    "token_offsets": _token_offsets,
    "token_mask_input": _token_mask_input,
}
