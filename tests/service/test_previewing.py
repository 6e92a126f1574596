"""What a trainer will see: the preview says of a run what the export then writes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.service.uploads import PROJECT, scored
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Reward, Span, Trajectory, TurnTokens, encode
from trajcredit.service import previewing
from trajcredit.service.exporting import export
from trajcredit.service.ingesting import Log, ingest
from trajcredit.service.plugins import exporter_of
from trajcredit.service.previewing import AlignmentFailure, preview
from trajcredit.store import Store


def rollout(name: str, reward: float | None, *, ids: bool = True) -> Trajectory:
    """Prompt 7 8; 20 21 sampled, 30 observed, 22 sampled."""
    turns = [
        TurnTokens(0, prompt_ids=[7, 8], sampled_ids=[20, 21]),
        TurnTokens(1, prompt_ids=[7, 8, 20, 21, 30], sampled_ids=[22]),
    ]
    return Trajectory(
        id=name,
        group="g",
        rewards=[] if reward is None else [Reward(reward)],
        spans=[Span("user", -1, text="hi"), Span("assistant", 0, text="what?"), Span("user", 0, text="that"),
               Span("assistant", 1, text="ok")],
        turns=turns if ids else [],
        terminated=True,
    )  # fmt: skip


def filled(store: Store, *runs: Trajectory) -> str:
    """The id of a finished run of rloo over them."""
    ingest(store, PROJECT, [Log(b"".join(encode(one) + b"\n" for one in runs), "log.jsonl")])
    return scored(store, "rloo").id


def written(store: Store, run: str, spec: str) -> list[dict[str, Any]]:
    out = io.BytesIO()
    export(store, PROJECT, run, exporter_of(spec), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_rows_shown_are_those_written(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", None))
    found = preview(store, PROJECT, run, exporter_of("tokens"), "ext:b")
    [row] = found.rows
    [expected] = [one for one in written(store, run, "tokens") if one["trajectory_id"] == "b"]
    assert row.ids == expected["response_ids"] == [20, 21, 30, 22]
    assert row.mask == expected["response_mask"] == [1, 1, 0, 1]
    assert row.advantages == expected["advantages"] == [-1.0, -1.0, 0.0, -1.0]
    assert row.spans == [1, 1, -1, 3]
    assert (row.prompt_tokens, row.response_tokens, row.trained, row.texts) == (2, 4, 3, None)


def test_the_counts_are_of_all_that_is_exported(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", None))
    totals = preview(store, PROJECT, run, exporter_of("tokens")).totals
    assert (totals.trajectories, totals.rows, totals.tokens, totals.trained, totals.exact) == (2, 2, 12, 6, 6)
    assert (totals.advantage_sum, totals.advantage_mean, totals.left_out) == (0.0, 0.0, {"no reward": 1})


def test_whitened_numbers_are_shown_whitened(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    [row] = preview(store, PROJECT, run, exporter_of("tokens:whiten=verl"), "ext:a").rows
    assert row.advantages == written(store, run, "tokens:whiten=verl")[0]["advantages"]
    assert row.advantages[0] != 1.0


def test_a_failed_alignment_is_counted_with_its_place(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0, ids=False))
    found = preview(store, PROJECT, run, exporter_of("tokens"))
    assert (found.totals.trajectories, found.totals.failed) == (1, 1)
    [failure] = found.totals.failures
    assert isinstance(failure, AlignmentFailure)
    assert failure.trajectory == "b"
    assert [row.trajectory for row in found.rows] == ["a"]
    assert preview(store, PROJECT, run, exporter_of("tokens"), "ext:b").rows == []


def test_a_window_begins_where_it_is_asked_to(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previewing, "MOST_TOKENS", 2)
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    [row] = preview(store, PROJECT, run, exporter_of("tokens"), "ext:a", 1).rows
    assert (row.start, row.ids, row.response_tokens) == (1, [21, 30], 4)
    [row] = preview(store, PROJECT, run, exporter_of("tokens"), "ext:a", 9).rows
    assert (row.ids, row.response_tokens) == ([], 4)


def test_of_a_large_run_the_first_are_counted_and_any_is_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previewing, "MOST_TRAJECTORIES", 2)
    run = filled(store, *(rollout(f"t{n}", n / 4) for n in range(5)))
    found = preview(store, PROJECT, run, exporter_of("tokens:whiten=verl"), "ext:t4")
    assert (found.of, found.looked_at, found.totals.trajectories) == (5, 2, 2)
    assert len(found.remarks) == 2
    [row] = found.rows
    assert row.advantages == written(store, run, "tokens")[4]["advantages"]


def test_what_is_not_there_is_refused(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    with pytest.raises(InputError, match="writes spans"):
        preview(store, PROJECT, run, exporter_of("jsonl"))
    with pytest.raises(NotFoundError):
        preview(store, PROJECT, run, exporter_of("tokens"), "ext:z")
    ingest(store, PROJECT, [Log(encode(replace(rollout("late", 1.0), group="h")) + b"\n", "other.jsonl")])
    with pytest.raises(InputError, match="not in this run"):
        preview(store, PROJECT, run, exporter_of("tokens"), "ext:late")


def test_with_a_tokenizer_each_token_is_read(store: Store, tmp_path: Path) -> None:
    from tests.tokens.tokenizers import byte_level

    run = filled(store, rollout("a", 1.0, ids=False), rollout("b", 0.0, ids=False))
    found = preview(store, PROJECT, run, exporter_of("tokens", tokenizer=str(byte_level(tmp_path / "bytes"))))
    [row] = found.rows
    assert row.texts is not None
    assert row.ids_source == "retokenized"
    owned = ["".join(t for t, s in zip(row.texts, row.spans, strict=True) if s == span) for span in (1, 3)]
    assert [text.startswith(said) for text, said in zip(owned, ("what?", "ok"), strict=True)] == [True, True]
    assert found.totals.retokenized == found.totals.trained > 0


def test_what_the_trainers_file_cannot_hold_is_said_before_it_is_written(store: Store) -> None:
    """Tinker wants log-probs, and this log has none."""
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    found = preview(store, PROJECT, run, exporter_of("tinker"))
    assert found.totals.trajectories == 2
    with pytest.raises(InputError) as refused:
        written(store, run, "tinker")
    assert found.remarks == [f"the export is refused: {refused.value}"]
