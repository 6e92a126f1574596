"""Attributors graded on labels: by hand, against the scorers of the benches, with intervals that pair."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trajcredit as tc
from tests.build import batch_of, group_of, run
from trajcredit.batching import Batch
from trajcredit.errors import InputError
from trajcredit.service import grading, plugins
from trajcredit.service.grading import Figure, Table, grade, grade_advantages, read_labels

BENCH = Path(__file__).parents[3] / "shared" / "bench"
NAN = math.nan
shared = pytest.mark.skipif(not BENCH.is_dir(), reason=f"no bench at {BENCH}")


def label(trajectory: str, span: int, **said: Any) -> dict[str, Any]:
    return {"schema": "trajcredit.label/1", "trajectory_id": trajectory, "span_index": span, **said}


def written(folder: Path, *rows: Any) -> grading.Labels:
    file = folder / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_labels(file)


def of(batch: Batch, labels: grading.Labels, *advantage: float) -> list[Table]:
    return grade_advantages(batch, {"mine": np.array(advantage, dtype=float)}, labels, draws=20)


def values(table: Table, who: str = "mine") -> dict[str, float]:
    return {name: figure.value for name, figure in table.figures[who].items()}


# ---------------------------------------------------------------- culprits


@pytest.mark.parametrize(
    ("advantage", "expected"),
    [
        pytest.param([-3, -2, -1, 0], [1, 1, 1, 1, 1, 1], id="the culprit is blamed most"),
        pytest.param([-2, -3, -1, 0], [0, 1, 1, 1 / 2, 0.5, 0], id="a right choice is blamed more"),
        pytest.param([0, 0, 0, 0], [1 / 4, 3 / 4, 1, 25 / 48, 0.5, 0.5], id="all alike is chance"),
        pytest.param([-2, -2, 0, 0], [1 / 2, 1, 1, 3 / 4, 0.75, 0.5], id="two share the blame"),
        pytest.param([NAN, -1, 0, 0], [0, 0, 1, 1 / 4, 0, 0], id="without a number it comes last"),
        pytest.param([NAN, NAN, NAN, NAN], [0, 0, 0, 0, 0, 0], id="no number at all counts 0"),
    ],
)
def test_culprits_by_hand(tmp_path: Path, advantage: list[float], expected: list[float]) -> None:
    batch = batch_of(run("cccc", 0.0, turns=[0, 1, 2, 3]))
    labels = written(
        tmp_path,
        label("t0", 0, verdict="culprit"),
        label("t0", 1, verdict="innocent"),
        label("t0", 2, verdict="unsure"),
        label("t0", 3, verdict="innocent"),
    )
    [table] = of(batch, labels, *advantage)
    assert (table.labels, table.part, table.n, table.groups) == ("culprits", "runs", 1, 1)
    assert list(values(table)) == ["acc@1", "acc@3", "tol3", "mrr", "pair", "spare"]
    assert list(values(table).values()) == pytest.approx(expected)


def test_of_several_culprits_the_most_blamed_counts(tmp_path: Path) -> None:
    """Four tied, two of them culprits: the first of the two stands 1st, 2nd or 3rd in 3, 2, 1 of 6 orders."""
    batch = batch_of(run("cccc", 0.0, turns=[0, 1, 2, 3]))
    labels = written(tmp_path, label("t0", 0, verdict="culprit"), label("t0", 2, verdict="culprit"))
    tied = values(of(batch, labels, 0, 0, 0, 0)[0])
    assert (tied["acc@1"], tied["acc@3"]) == pytest.approx((3 / 6, 1))
    assert tied["mrr"] == pytest.approx(3 / 6 + 2 / 6 / 2 + 1 / 6 / 3)
    apart = values(of(batch, labels, 0, -2, -1, 0)[0])
    assert (apart["acc@1"], apart["mrr"]) == pytest.approx((0, 1 / 2))


def test_blame_is_near_where_it_is_at_most_three_candidates_away(tmp_path: Path) -> None:
    """Of ten choices number 2 and 3 are culprits; of two that are blamed most alike one may be near."""
    batch = batch_of(run("c" * 10, 0.0, turns=list(range(10))))
    labels = written(tmp_path, label("t0", 2, verdict="culprit"), label("t0", 3, verdict="culprit"))
    near = {}
    for k in range(10):
        near[k] = values(of(batch, labels, *(-1.0 if at == k else 0.0 for at in range(10)))[0])["tol3"]
    assert near == {k: float(k <= 6) for k in range(10)}
    assert values(of(batch, labels, *(-1.0 if at in (6, 7) else 0.0 for at in range(10)))[0])["tol3"] == 0.5


def test_a_contributing_choice_is_wrong_but_no_culprit(tmp_path: Path) -> None:
    batch = batch_of(run("ccc", 0.0, turns=[0, 1, 2]))
    labels = written(tmp_path, label("t0", 0, verdict="contributed"), label("t0", 1, verdict="innocent"))
    found = values(of(batch, labels, -1, 0, 0)[0])
    assert (found["pair"], found["spare"]) == (1, 1)
    assert math.isnan(found["acc@1"])


def test_a_verdict_on_words_is_about_the_calls_of_their_turn(tmp_path: Path) -> None:
    batch = batch_of(run("tccra", 0.0, turns=[0, 0, 0, 0, 1]))
    labels = written(tmp_path, label("t0", 0, verdict="culprit"), label("t0", 2, verdict="innocent"))
    found = values(of(batch, labels, 9, -2, -1, NAN, 0)[0])
    assert (found["acc@1"], found["pair"]) == (1, 1), "call 1 has the verdict of the words, call 2 its own"


def test_the_newest_verdict_on_a_span_counts_and_what_differs_is_said(tmp_path: Path) -> None:
    batch = batch_of(run("cc", 0.0, turns=[0, 1]))
    labels = written(
        tmp_path,
        label("t0", 0, verdict="culprit", at="2026-03-02", labeller="a"),
        label("t0", 0, verdict="innocent", at="2026-03-01T23:00:00-04:00", labeller="b"),
        label("t0", 1, verdict="culprit", at="2026-03-01"),
        label("t0", 1, verdict="innocent", at="2026-02-01"),
    )
    found = grade(batch, plugins.choose(["grpo"]), labels, draws=2)
    assert found.remarks == ("2 labels overruled by a newer one of the same span that says otherwise",)
    assert values(of(batch, labels, 0, -1)[0])["spare"] == 1
    assert values(of(batch, labels, -1, 0)[0])["acc@1"] == 0


# ---------------------------------------------------------------- true advantages


def test_true_advantages_by_hand(tmp_path: Path) -> None:
    batch = batch_of(run("cccc", 0.0, turns=[0, 1, 2, 3]), run("c", 1.0))
    truth = [-0.5, 0.1, 0.0, 0.01, 0.2]
    places = [("t0", 0), ("t0", 1), ("t0", 2), ("t0", 3), ("t1", 0)]
    labels = written(tmp_path, *(label(t, i, value=v) for (t, i), v in zip(places, truth, strict=True)))
    mine = [-1.0, -0.2, 0.0, 0.4, 0.0]
    [table] = of(batch, labels, *mine)
    assert (table.labels, table.part, table.n) == ("advantages", "overall", 5)
    found = values(table)
    assert found["pearson"] == pytest.approx(np.corrcoef(truth, mine)[0, 1])
    assert found["spearman"] == pytest.approx(np.corrcoef([1, 4, 2, 3, 5], [1, 2, 3.5, 5, 3.5])[0, 1])
    assert found["sign"] == pytest.approx((1 + 0 + 0.5) / 3), "sizes up to 0.02 have no sign, a 0 is half right"
    scale = np.dot(truth, mine) / np.dot(mine, mine)
    left = np.array(truth) - scale * np.array(mine)
    assert found["nmse"] == pytest.approx(left @ left / np.dot(truth, truth))
    assert (found["blame@1"], found["praise@1"]) == (1, 1)
    assert [table.figures["mine"][m].n for m in ("sign", "blame@1", "praise@1")] == [3, 1, 1]


def test_families_are_drawn_and_averaged_apart(tmp_path: Path) -> None:
    runs = [run("cc", float(i % 2), name=f"r{i}", group=f"g{i // 2}", turns=[0, 1]) for i in range(8)]
    rows = [label(f"r{i}", k, value=(-1) ** (i + k) * 0.5, family="ab"[i // 4]) for i in range(8) for k in (0, 1)]
    batch, labels = batch_of(*runs), written(tmp_path, *rows)
    right = [(-1.0) ** (i + k) for i in range(4) for k in (0, 1)]
    tables = {(table.part, table.family): table for table in of(batch, labels, *right, *(-x for x in right))}
    assert list(tables) == [("macro", None), ("overall", None), ("family", "a"), ("family", "b")]
    assert [values(table)["pearson"] for table in tables.values()] == pytest.approx([0, 0, 1, -1])
    assert tables["family", "a"].groups == 2
    macro = tables["macro", None].figures["mine"]["pearson"]
    assert (macro.low, macro.high) == pytest.approx((0, 0)), "every draw has both families"


def test_a_column_that_does_not_vary_has_no_correlation(tmp_path: Path) -> None:
    batch = batch_of(*group_of(0.0, 1.0, 0.0))
    labels = written(tmp_path, *(label(f"t{i}", 0, value=v) for i, v in enumerate((-0.3, 0.6, -0.3))))
    found = values(of(batch, labels, 0.1, 0.1, 0.1)[0])
    assert (found["pearson"], found["spearman"]) == (0, 0)
    assert values(of(batch, labels, 0, 0, 0)[0])["nmse"] == 1


def test_an_action_without_a_number_counts_as_0_and_is_said(tmp_path: Path) -> None:
    batch = batch_of(run("c", None), run("c", 0.0), run("c", 1.0))
    labels = written(tmp_path, *(label(f"t{i}", 0, value=v) for i, v in enumerate((0.5, -0.5, 0.5))))
    found = grade(batch, plugins.choose(["grpo"]), labels, draws=2)
    assert found.remarks == ("grpo: 1 labelled action without a number, counted as 0",)
    assert values(found.tables[0], "grpo")["sign"] == pytest.approx((0.5 + 1 + 1) / 3)


# ---------------------------------------------------------------- many attributors


def three_groups() -> tuple[Batch, list[dict[str, Any]]]:
    runs = [run("ccc", float(i % 2), name=f"r{i}", group=f"g{i // 2}", turns=[0, 1, 2]) for i in range(6)]
    rows = [label(f"r{i}", k, value=(-1) ** (i + 1) * 0.1 * (k + i)) for i in range(6) for k in range(3)]
    return batch_of(*runs), rows


def test_differences_are_to_the_first_attributor_and_pair(tmp_path: Path) -> None:
    batch, rows = three_groups()
    labels = written(tmp_path, *rows)
    found = grade(batch, plugins.choose(["grpo", "rloo", "rtg"]), labels, draws=200)
    [table] = found.tables
    assert found.reference == "grpo"
    assert list(table.differences) == ["rloo", "rtg"]
    for name, own in table.differences.items():
        for measure, figure in own.items():
            here, there = (table.figures[who][measure].value for who in (name, "grpo"))
            assert figure.value == pytest.approx(here - there)
    rloo = table.differences["rloo"]["pearson"]
    assert (rloo.low, rloo.value, rloo.high) == pytest.approx((0, 0, 0)), "a multiple of grpo here, draw by draw"
    assert table.figures["rloo"]["pearson"].low < table.figures["rloo"]["pearson"].high


def test_the_same_seed_gives_the_same_intervals(tmp_path: Path) -> None:
    batch, rows = three_groups()
    labels = written(tmp_path, *rows)
    chosen = plugins.choose(["rtg"])
    assert grade(batch, chosen, labels, draws=50) == grade(batch, chosen, labels, draws=50, seed=0)
    assert grade(batch, chosen, labels, draws=50) != grade(batch, chosen, labels, draws=50, seed=1)


def test_an_attributor_that_fails_is_named_and_the_rest_is_graded(tmp_path: Path) -> None:
    batch, rows = three_groups()
    found = grade(batch, plugins.choose(["grpo", "gae", "rtg"]), written(tmp_path, *rows), draws=2)
    assert [one.attributor for one in found.failed] == ["gae"]
    assert "needs a critic's values" in found.failed[0].reason
    assert list(found.tables[0].figures) == ["grpo", "rtg"]
    found = grade(batch, plugins.choose(["gae", "rtg"]), written(tmp_path, *rows), draws=2)
    assert found.reference is None
    assert found.tables[0].differences == {}
    assert found.remarks == ("no differences: 'gae', which they would be to, failed",)
    with pytest.raises(InputError, match="no attributor could score these runs: gae needs"):
        grade(batch, plugins.choose(["gae"]), written(tmp_path, *rows), draws=2)


# ---------------------------------------------------------------- against the scorers


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_score", path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


def rows_of(batch: Batch, advantage: np.ndarray[Any, Any]) -> Iterator[dict[str, Any]]:
    for t, graph in enumerate(batch.graphs or ()):
        for k, span in enumerate(graph.trajectory.spans):
            number = advantage[batch.span_offsets[t] + k]
            place = {"message_index": span.message_index, "tool_call_id": span.call_id}
            yield {"trajectory_id": graph.trajectory.id, **place, "advantage": None if np.isnan(number) else number}


def noisy(batch: Batch) -> np.ndarray[Any, Any]:
    """Numbers with ties, differing from span to span."""
    random = np.random.default_rng(7)
    return np.where(batch.action_mask, random.integers(-3, 4, batch.n_spans) / 4, np.nan)


@shared
@pytest.mark.parametrize("name", ["tau_airline", "whowhen"])
def test_culprits_are_graded_as_the_scorer_does_intervals_included(tmp_path: Path, name: str) -> None:
    folder = BENCH / "blame" / name
    logs = folder / "transcripts.jsonl"
    batch = tc.batch(tc.read(logs if logs.exists() else folder))
    advantages = {"grpo": tc.attribute(batch, "grpo").advantage, "noisy": noisy(batch)}
    [table] = grade_advantages(batch, advantages, read_labels(folder / "labels.jsonl"), draws=300)
    scorer = module(BENCH / "blame" / "score.py")
    labels = [one for one in scorer.read_jsonl(folder / "labels.jsonl") if scorer.usable(one)]
    draws = scorer.cluster_draws(labels, 300, 0)
    tables = {}
    for who, advantage in advantages.items():
        file = tmp_path / f"{who}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows_of(batch, advantage)))
        predicted, spans, _ = scorer.load_predictions(file, labels)
        tables[who] = scorer.score_predictions(labels, predicted, spans)
        theirs = scorer.summarise(tables[who], draws)
        assert theirs
        same(table.figures[who], theirs)
    against = [{m: mine[m] - flat[m] for m in mine} for mine, flat in zip(tables["noisy"], tables["grpo"], strict=True)]
    same(table.differences["noisy"], scorer.summarise(against, draws))


def same(ours: dict[str, Figure], theirs: dict[str, dict[str, float]]) -> None:
    for measure, figure in ours.items():
        if measure not in theirs:
            assert math.isnan(figure.value)
            continue
        mine = (figure.value, figure.low, figure.high, figure.n)
        assert mine == pytest.approx([theirs[measure][k] for k in ("mean", "low", "high", "n")], abs=1e-9)


@shared
def test_true_advantages_are_graded_as_the_scorer_does() -> None:
    folder = BENCH / "oracle"
    scorer = module(folder / "score.py")
    truth = scorer.Labels(str(folder / "dev_labels.jsonl.gz"))
    batch = tc.batch(tc.read(folder / "dev.jsonl.gz"))
    advantages = {"grpo": tc.attribute(batch, "grpo").advantage, "noisy": noisy(batch)}
    tables = grade_advantages(batch, advantages, read_labels(folder / "dev_labels.jsonl.gz"), draws=2)
    theirs = ("pearson", "spearman", "sign_acc", "nmse", "blame1", "praise1")
    assert len(tables) == len(truth.families) + 2
    for who, advantage in advantages.items():
        predicted, missing, extra = truth.read_pred(rows_of(batch, advantage))
        assert (missing, extra) == (0, 0)
        report = scorer.score(truth, predicted, curve=False)
        for table in tables:
            expected = report[table.family or table.part]
            assert list(values(table, who).values()) == pytest.approx([expected[m] for m in theirs], abs=1e-9)
