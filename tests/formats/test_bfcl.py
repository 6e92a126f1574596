"""Results and scores of the Berkeley Function Calling Leaderboard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.logs import calls, codes, kinds, pairs, read_lines, read_one, refusals, texts
from trajcredit.errors import ParseError, SkippedFile
from trajcredit.formats import read
from trajcredit.model import Reward, Trajectory


def row(result: Any, **more: Any) -> dict[str, Any]:
    return {"id": "simple_0", "result": result, "latency": 0.5, **more}


@pytest.mark.parametrize(
    ("result", "wanted", "inferred"),
    [
        pytest.param([{"f": '{"n": 1}'}], [("f", {"n": 1})], False, id="calls"),
        pytest.param({"f": '{"n": 1}'}, [("f", {"n": 1})], False, id="one call"),
        pytest.param("[f(n=1), a.g('x', k=[1])]", [("f", {"n": 1}), ("a.g", {"0": "x", "k": [1]})], True, id="Python"),
        pytest.param("f(n=unknown)", [("f", None)], True, id="no literal"),
        pytest.param("I cannot (sorry)", [], False, id="text"),
        pytest.param("(" * 5000 + ")", [], False, id="brackets"),
        pytest.param("1()", [], False, id="a call of nothing"),
    ],
)
def test_the_result_of_one_turn(result: Any, wanted: list[Any], inferred: bool) -> None:
    got = read_one(row(result))
    assert [(c.name, c.arguments) for c in calls(got)] == wanted
    assert all(c.inferred == inferred for c in calls(got))
    assert (texts(got, "assistant") == []) == bool(calls(got))


def test_turns_of_steps_without_a_log_of_what_was_said() -> None:
    got = read_one(
        row(
            [[[{"f": "{}"}], "Done."], [[{"g": "{}"}]]],
            input_token_count=[[3, 4], [5]],
            output_token_count=[[1, 1], [1]],
        )
    )
    assert [(span.kind, span.name, span.turn) for span in got.spans] == [
        ("tool_call", "f", 0),
        ("assistant", None, 1),
        ("tool_call", "g", 2),
    ]
    assert got.spans[0].usage == {"input_tokens": 12, "output_tokens": 3}
    assert (got.task, got.group) == ("simple_0", "simple_0")


def test_the_log_of_what_was_said_has_questions_and_results() -> None:
    handled = {"role": "handler_log", "content": "ok", "model_response_decoded": ["f(n=1)"]}
    log = [
        [{"role": "state_info", "class_name": "Bell", "content": {}}],
        {
            "begin_of_turn_query": [{"role": "user", "content": "go"}],
            "step_0": [{"role": "assistant", "content": "I shall ring it"}, handled, {"role": "tool", "content": "1"}],
            "step_1": [{"role": "assistant", "content": [{"g": "{}"}]}, handled, {"role": "tool", "content": "2"}],
            "step_2": [{"role": "assistant", "content": "Done."}],
        },
    ]
    got = read_one(row([], inference_log=log))
    assert kinds(got) == [
        "meta",
        "user",
        "assistant",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "assistant",
    ]
    assert pairs(got) == [("f", "1", None), ("g", "2", None)]
    assert [c.inferred for c in calls(got)] == [True, False]
    assert "written-call" in codes(got)


def test_a_score_file_lists_failures() -> None:
    totals = {"accuracy": 0.5, "correct_count": 1, "total_count": 2}
    failed = {"id": "simple_1", "valid": False, "model_result_raw": "f(n=1)", "error": ["wrong value"]}
    got = read_one(totals, failed)
    assert got.rewards == [Reward(0.0)]
    assert [c.name for c in calls(got)] == ["f"]
    assert "run-error" in codes(got)


def test_a_broken_line_costs_no_other() -> None:
    found = read_lines(row("x"), {**row("x"), "id": []}, row([{"f": "{}"}], id="simple_2"))
    assert refusals(found) == [(2, "line 2: Expected `int | str | null`, got `array` - at `$.id`")]
    assert sum(isinstance(item, Trajectory) for item in found) == 2


# ---------------------------------------------------------------- the score file beside the results

RESULT, SCORE = "BFCL_v4_simple_result.json", "BFCL_v4_simple_score.json"


def written(
    folder: Path,
    failed: list[str],
    total: int = 3,
    result: str = RESULT,
    score: str = SCORE,
    latency: float = 0.5,
) -> Path:
    """Results of three tasks, and a score file by which some failed."""
    totals = {"accuracy": 0.5, "correct_count": total - len(failed), "total_count": total}
    lines = [totals, *({"id": name, "valid": False, "error": {"error_type": "value_error"}} for name in failed)]
    results = [row([{"f": "{}"}], id=f"simple_{n}", latency=latency) for n in range(3)]
    for name, rows in ((result, results), (score, lines)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in rows))
    return folder


def rewards(found: list[Trajectory | ParseError]) -> dict[str | None, list[float]]:
    return {item.task: [r.value for r in item.rewards] for item in found if isinstance(item, Trajectory)}


@pytest.mark.parametrize(
    ("result", "score"),
    [
        pytest.param(RESULT, SCORE, id="in the same folder"),
        pytest.param(f"result/m/non_live/{RESULT}", f"score/m/non_live/{SCORE}", id="in the tree beside"),
        pytest.param(f"result/result/{RESULT}", f"result/score/{SCORE}", id="in the tree of the nearest folder"),
    ],
)
def test_what_the_score_file_does_not_list_passed(tmp_path: Path, result: str, score: str) -> None:
    found = list(read(written(tmp_path, ["simple_1"], result=result, score=score)))
    assert rewards(found) == {"simple_0": [1.0], "simple_1": [0.0], "simple_2": [1.0]}
    noted = [codes(item) for item in found if isinstance(item, Trajectory)]
    assert [("run-error" in each, "companion-missing" in each) for each in noted] == [
        (False, False),
        (True, False),
        (False, False),
    ]
    [skipped] = [item for item in found if isinstance(item, ParseError)]
    assert isinstance(skipped, SkippedFile)
    assert skipped.reason == f"its verdicts belong to the results in {RESULT}: read with those"


def test_two_models_keep_their_own_verdicts(tmp_path: Path) -> None:
    for model, failed, latency in (("a", ["simple_0"], 1), ("b", [], 2)):
        written(tmp_path, failed, 3, f"result/{model}/{RESULT}", f"score/{model}/{SCORE}", latency)
    found = [item for item in read(tmp_path) if isinstance(item, Trajectory)]
    assert {t.id: [r.value for r in t.rewards] for t in found if t.task == "simple_0"} == {
        f"a/{RESULT}:simple_0": [0.0],
        f"b/{RESULT}:simple_0": [1.0],
    }


@pytest.mark.parametrize(
    ("failed", "total", "said"),
    [
        pytest.param(["simple_1"], 4, f"{SCORE} counts 4 tasks, there are 3 results", id="another number of tasks"),
        pytest.param(["simple_1", "simple_1"], 3, f"{SCORE} lists 1 failures, its totals are 1 right of 3", id="twice"),
    ],
)
def test_where_totals_do_not_fit_only_failures_are_known(
    tmp_path: Path, failed: list[str], total: int, said: str
) -> None:
    found = list(read(written(tmp_path, failed, total)))
    assert rewards(found) == {"simple_0": [], "simple_1": [0.0], "simple_2": []}
    first = next(item for item in found if isinstance(item, Trajectory))
    note = next(note for note in first.report if note.code == "score-mismatch")
    assert note.message == f"{said}: whether this task passed is unknown"


def test_without_a_score_file_nothing_is_known_and_that_is_said(tmp_path: Path) -> None:
    (written(tmp_path, []) / SCORE).unlink()
    found = list(read(tmp_path))
    assert rewards(found) == {"simple_0": [], "simple_1": [], "simple_2": []}
    assert all("companion-missing" in codes(item) for item in found if isinstance(item, Trajectory))


def test_a_damaged_score_file_is_named_and_the_results_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, ["simple_1"]) / SCORE
    file.write_text(file.read_text()[:-20])
    found = list(read(tmp_path / RESULT))
    assert rewards(found) == {"simple_0": [], "simple_1": [], "simple_2": []}
    [error] = [item for item in found if isinstance(item, ParseError)]
    assert f"the file beside it, {SCORE}, cannot be read" in str(error)
