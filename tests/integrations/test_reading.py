"""Exported files are checked before a trainer is handed their numbers: each broken rule names file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.exporters.token_rows import token_row, two_turns
from tests.integrations.files import rewritten, written
from trajcredit.errors import InputError
from trajcredit.exporters.nemo_rl import NemoRl
from trajcredit.exporters.openrlhf import OpenRlhf
from trajcredit.exporters.skyrl import SkyRL
from trajcredit.exporters.slime import Slime
from trajcredit.exporters.trl import Trl
from trajcredit.exporters.verl import Verl
from trajcredit.integrations import nemo_rl, openrlhf, skyrl, slime, trl, verl
from trajcredit.integrations.reading import by_trajectory, fits, read

PAIRS = [
    pytest.param(exporter, module.LAYOUT, id=module.LAYOUT.exporter)
    for exporter, module in [
        (Verl(), verl),
        (Trl(), trl),
        (SkyRL(), skyrl),
        (Slime(), slime),
        (OpenRlhf(), openrlhf),
        (NemoRl(), nemo_rl),
    ]
]


@pytest.mark.parametrize(("exporter", "layout"), PAIRS)
def test_what_an_exporter_writes_is_read_as_it_is(exporter: Any, layout: Any, tmp_path: Path) -> None:
    bare = token_row([9], [11, 12], [0, 1], [0.0, 0.1], trajectory="u", row=0)
    path = written(exporter, tmp_path, two_turns(), bare)
    first, second = read(path, layout)
    assert [number for number in first[layout.advantages] if number] == [0.5, 0.5, -0.25]
    assert (second["trajectory_id"], second["row"], second[layout.logprobs]) == ("u", 0, None)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"advantages": ...},
            "has no 'advantages': expected a file of `trajcredit export --to trl`",
            id="a field is missing",
        ),
        pytest.param({"advantages": [0.5]}, "advantages must be a list of 6", id="too few advantages"),
        pytest.param({"env_mask": [1] * 7}, "env_mask must be a list of 6", id="too long a mask"),
        pytest.param({"logprobs": [0.0]}, "logprobs must be a list of 6", id="too few log-probs"),
        pytest.param({"env_mask": [0] * 6}, "env_mask is 0 throughout", id="an all-zero mask"),
        pytest.param({"env_mask": [1, 2, 0, 0, 0, 1]}, "env_mask holds something other than 0 and 1", id="a mask of 2"),
        pytest.param({"env_mask": [True, 1, 0, 0, 0, 1]}, "env_mask holds something other", id="a mask of true"),
        pytest.param(
            {"advantages": [0.5, 0.5, 0.25, 0, 0, -0.25]},
            r"advantages\[2\] is 0.25 where env_mask is 0",
            id="an advantage on an observation",
        ),
        pytest.param({"advantages": [0.5, None, 0, 0, 0, 1]}, r"advantages\[1\] is None", id="an advantage of null"),
        pytest.param({"advantages": [0.5, float("nan"), 0, 0, 0, 1]}, "no JSON", id="an advantage of NaN"),
        pytest.param(
            {"logprobs": [-1, -1, -1, 0, 0, 0]}, r"logprobs\[2\] is -1 where", id="a log-prob on an observation"
        ),
        pytest.param({"prompt_ids": [7, "8"]}, "prompt_ids holds something other than token ids", id="an id of text"),
        pytest.param({"prompt_ids": [7, -1]}, "prompt_ids holds something other than token ids", id="a negative id"),
        pytest.param({"row": "0"}, "row is '0': expected a whole number", id="a row number of text"),
        pytest.param({"uid": None}, "uid and trajectory_id must be text", id="no group"),
        pytest.param({"completion_ids": None}, "completion_ids is no list", id="ids of null"),
    ],
)
def test_a_broken_rule_names_file_and_line(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = rewritten(written(Trl(), tmp_path, token_row([7], [11], [1], [0.5]), two_turns()), 1, **fields)
    with pytest.raises(InputError, match=f"advantages.jsonl:2: .*{message}"):
        list(read(path, trl.LAYOUT))


def test_a_response_longer_than_its_tokens_is_refused(tmp_path: Path) -> None:
    path = rewritten(written(Slime(), tmp_path, two_turns()), response_length=8)
    with pytest.raises(InputError, match="loss_mask must be a list of 7"):
        list(read(path, slime.LAYOUT))


@pytest.mark.parametrize("text", [pytest.param("[1]", id="a list"), pytest.param("{", id="half an object")])
def test_a_line_that_is_no_object_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(f"\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"file\.jsonl:2: "):
        list(read(path, trl.LAYOUT))


def test_a_table_without_verls_columns_is_refused(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow.parquet import write_table

    path = tmp_path / "file.parquet"
    write_table(pyarrow.table({"uid": ["g"]}), path)
    with pytest.raises(InputError, match=r"file.parquet, row 1: it has no 'trajectory_id'.*--to verl"):
        list(read(path, verl.LAYOUT))


def test_half_a_table_is_refused(tmp_path: Path) -> None:
    path = written(Verl(), tmp_path, two_turns())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="no parquet table"):
        list(read(path, verl.LAYOUT))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*nothing\.jsonl: No such file"):
        list(read(tmp_path / "nothing.jsonl", trl.LAYOUT))


def test_rows_are_gathered_by_trajectory(tmp_path: Path) -> None:
    rows = [token_row([7], [11], [1], [0.5], trajectory=name, row=row) for name, row in [("a", 0), ("a", 1), ("b", 0)]]
    found = by_trajectory(written(Trl(), tmp_path, *rows), trl.LAYOUT)
    assert {name: [record["row"] for record in records] for name, records in found.items()} == {"a": [0, 1], "b": [0]}


def test_a_row_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = written(Trl(), tmp_path, two_turns(), two_turns())
    with pytest.raises(InputError, match="row 0 of t where row 1 was expected"):
        by_trajectory(path, trl.LAYOUT)


@pytest.mark.parametrize(
    ("advantages", "message"),
    [
        pytest.param([0.5], "here: 1 advantages for 2 tokens", id="another length"),
        pytest.param([0.5, 0.5], "here: token 1 has advantage 0.5 and mask 0", id="an advantage on a masked token"),
        pytest.param([float("inf"), 0.0], "here: an advantage is not finite", id="infinity"),
    ],
)
def test_advantages_that_do_not_fit_are_refused(advantages: list[float], message: str) -> None:
    fits([0.5, 0.0], [1, 0], "here")
    with pytest.raises(InputError, match=message):
        fits(advantages, [1, 0], "here")
