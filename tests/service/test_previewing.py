"""What a trainer will see: the preview says of a run what the export then writes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.service.uploads import PROJECT, scored
from trajcredit import tokens
from trajcredit.errors import InputError, NotFoundError
from trajcredit.model import Note, Reward, Span, SpawnedBy, Trajectory, TurnTokens, encode
from trajcredit.service import preview_counts, previewing
from trajcredit.service.exporting import export
from trajcredit.service.ingesting import Log, ingest
from trajcredit.service.plugins import exporter_of
from trajcredit.service.previewing import Preview, preview
from trajcredit.store import Store, trajectories
from trajcredit.tokens import Counted


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


def counts(found: Preview) -> Counted:
    assert found.totals is not None
    return found.totals


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
    assert (row.prompt_ids, row.prompt_texts) == ([7, 8], None)
    assert (row.prompt_tokens, row.response_tokens, row.trained, row.texts) == (2, 4, 3, None)


def test_the_counts_are_of_all_that_is_exported(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", None))
    found = preview(store, PROJECT, run, exporter_of("tokens"))
    totals = counts(found)
    assert (totals.prompt, totals.cut_tokens, found.span_rows) == (4, 0, None)
    assert (totals.trajectories, totals.rows, totals.tokens, totals.trained, totals.exact) == (2, 2, 12, 6, 6)
    assert (totals.advantage_sum, found.advantage_mean, totals.left_out) == (0.0, 0.0, {"no reward": 1})
    short = counts(preview(store, PROJECT, run, exporter_of("tokens:max_tokens=5")))
    assert (short.cut_tokens, short.cut_trained, short.trained) == (2, 2, 4)


def test_whitened_numbers_are_shown_whitened(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    [row] = preview(store, PROJECT, run, exporter_of("tokens:whiten=verl"), "ext:a").rows
    assert row.advantages == written(store, run, "tokens:whiten=verl")[0]["advantages"]
    assert row.advantages[0] != 1.0


def test_a_failed_alignment_is_counted_with_its_place(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0, ids=False))
    found = preview(store, PROJECT, run, exporter_of("tokens"))
    totals = counts(found)
    assert (totals.trajectories, totals.failed) == (1, 1)
    assert [failure.trajectory_id for failure in totals.failures] == ["b"]
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
    assert (found.of, found.looked_at, counts(found).trajectories) == (5, 2, 2)
    assert len(found.remarks) == 2
    [row] = found.rows
    assert row.advantages == written(store, run, "tokens")[4]["advantages"]


def test_what_is_not_there_is_refused(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
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
    assert counts(found).retokenized == counts(found).trained > 0
    assert row.prompt_texts is not None
    assert "".join(row.prompt_texts) == "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
    assert len(row.prompt_ids) == row.prompt_tokens


def test_what_the_trainers_file_cannot_hold_is_said_before_it_is_written(store: Store) -> None:
    """Tinker wants log-probs, and this log has none."""
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    found = preview(store, PROJECT, run, exporter_of("tinker"))
    totals = counts(found)
    assert (totals.trajectories, totals.failed, found.rows) == (0, 2, [])
    with pytest.raises(InputError) as refused:
        written(store, run, "tinker")
    assert str(refused.value).startswith(f"a, turn 0, span 1: {totals.failures[0].reason}; ")


def test_of_whitened_numbers_that_the_file_cannot_hold_the_refusal_is_shown(store: Store) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    spec = "areal:whiten=verl,reward_clip=0.5"
    found = preview(store, PROJECT, run, exporter_of(spec))
    with pytest.raises(InputError) as refused:
        written(store, run, spec)
    assert found.remarks == [f"the export is refused: {refused.value}"]


@pytest.mark.parametrize("spec", ["jsonl", "parquet"])
def test_of_an_exporter_of_spans_its_rows_are_counted(store: Store, spec: str) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", None))
    found = preview(store, PROJECT, run, exporter_of(spec))
    assert (found.span_rows, found.totals, found.rows, found.of) == (12, None, [], 3)
    assert len(written(store, run, "jsonl")) == 12


# ---------------------------------------------------------------- looked at again


@pytest.fixture
def aligning(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The trajectories that are aligned, as it happens."""
    seen: list[str] = []

    def align(trajectory: Trajectory, *args: Any, **more: Any) -> Any:
        seen.append(trajectory.id)
        return tokens.align(trajectory, *args, **more)

    monkeypatch.setattr("trajcredit.exporters.tokens.align", align)
    return seen


def test_another_look_aligns_one_trajectory(store: Store, aligning: list[str]) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", 0.5))
    spec = "tokens:whiten=verl"
    first = preview(store, PROJECT, run, exporter_of(spec))
    assert (first.rows[0].trajectory, aligning) == ("a", ["a", "b", "c", "a"])
    aligning.clear()
    again = preview(store, PROJECT, run, exporter_of(spec), "ext:b")
    assert aligning == ["b"]
    assert again.totals == first.totals
    assert again.rows[0].advantages == written(store, run, spec)[1]["advantages"]


def test_counts_are_taken_anew_where_what_they_depend_on_has_changed(store: Store, aligning: list[str]) -> None:
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0), rollout("c", 0.5))
    preview(store, PROJECT, run, exporter_of("tokens"))
    aligning.clear()
    preview(store, PROJECT, run, exporter_of("tokens:share=last"))
    assert len(aligning) == 4, "another parameter"
    other = scored(store, "grpo").id
    aligning.clear()
    preview(store, PROJECT, other, exporter_of("tokens"))
    assert len(aligning) == 4, "another run"
    with store.write() as conn:
        trajectories.delete(conn, PROJECT, "ext:c")
    aligning.clear()
    assert counts(preview(store, PROJECT, run, exporter_of("tokens"))).trajectories == 2
    assert len(aligning) == 3, "a trajectory less"


def test_counts_are_taken_anew_with_another_tokenizer_in_the_same_place(
    store: Store, tmp_path: Path, aligning: list[str]
) -> None:
    from tests.tokens.tokenizers import byte_level, word_level

    run = filled(store, rollout("a", 1.0, ids=False), rollout("b", 0.0, ids=False))
    folder = str(byte_level(tmp_path / "tokenizer"))
    before = counts(preview(store, PROJECT, run, exporter_of("tokens", tokenizer=folder)))
    word_level(tmp_path / "tokenizer")
    aligning.clear()
    after = counts(preview(store, PROJECT, run, exporter_of("tokens", tokenizer=folder)))
    assert len(aligning) == 3
    assert after.tokens != before.tokens


def test_few_exports_are_remembered(store: Store, aligning: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview_counts, "MOST_KEPT", 1)
    run = filled(store, rollout("a", 1.0), rollout("b", 0.0))
    for spec in ("tokens", "verl", "tokens"):
        aligning.clear()
        preview(store, PROJECT, run, exporter_of(spec))
        assert len(aligning) == 3


def test_a_branch_is_shown_as_it_is_written(store: Store) -> None:
    """Both answer 7 8 with 20 21; then the run samples 22, its branch 23."""

    def branch(name: str, last: int, **more: Any) -> Trajectory:
        one = rollout(name, 1.0)
        turns = [one.turns[0], replace(one.turns[1], sampled_ids=[last])]
        spans = [replace(span, message_index=i) for i, span in enumerate(one.spans)]
        return replace(one, spans=spans, turns=turns, **more)

    parted = {"parent": SpawnedBy("t", 2), "report": [Note("branched", "shares its first 3 messages with 't'")]}
    run = filled(store, rollout("a", 0.0), branch("t", 22), branch("t:branch-1", 23, **parted), branch("z", 24))
    for name, mask in (("t", [1, 1, 0, 1]), ("t:branch-1", [0, 0, 0, 1])):
        [row] = preview(store, PROJECT, run, exporter_of("tokens"), f"ext:{name}").rows
        [expected] = [one for one in written(store, run, "tokens") if one["trajectory_id"] == name]
        assert row.mask == expected["response_mask"] == mask
