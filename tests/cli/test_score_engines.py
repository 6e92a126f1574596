"""`trajcredit score --engine`: the same rows from every engine, and rows in shards where a folder is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trajcredit.cli.root import root


def score(*arguments: str | Path) -> Result:
    return CliRunner().invoke(root, ["score", *map(str, arguments)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    place = tmp_path / "runs.jsonl"
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done: AB-1234."}]
    rows = [
        {"trajectory_id": f"r{k}", "group_id": f"g{k // 3}", "reward": float(k % 2), "messages": messages}
        for k in range(9)
    ]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def test_a_pool_writes_the_rows_of_this_process(log: Path) -> None:
    here, pool = score(log, "-a", "grpo"), score(log, "-a", "grpo", "--engine", "pool", "--workers", "2")
    assert (here.exit_code, pool.exit_code) == (0, 0), pool.output
    assert here.stdout == pool.stdout
    assert here.stderr == pool.stderr


def test_a_folder_gets_a_file_a_shard(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = score(log, "-a", "grpo", "-o", f"{out}/", "--shard-spans", "6", "--to", "jsonl")
    assert result.exit_code == 0, result.output
    assert f"18 rows of 9 trajectories in 3 groups, 3 files: {out}/" in result.stderr
    assert sorted(path.name for path in out.iterdir()) == [
        "_done.json",
        "part-000000.jsonl",
        "part-000001.jsonl",
        "part-000002.jsonl",
    ]
    parts = "".join((out / f"part-00000{k}.jsonl").read_text() for k in range(3))
    assert parts == score(log, "-a", "grpo").stdout
    assert score(log, "-o", out).exit_code == 2, "it holds something already"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engine", "dask"], "'dask' is not one of 'in-process', 'pool', 'ray'"),
        (["--workers", "2"], "the engine in-process has 1 worker, not 2"),
        (["--shard-spans", "9"], "--shard-spans is for -o DIR/"),
        (["-o", "shards/", "--rewards", "x.csv"], "--rewards does not go with a folder of shards"),
        (["-o", "shards/", "--tokenizer", "x"], "--tokenizer does not go with a folder of shards"),
        (["-o", "shards/", "-a", "reinforce_pp"], "cannot be scored in shards: it compares across groups"),
    ],
)
def test_what_does_not_go_together_is_refused(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = score(log, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "shards").exists()
