"""`score --engine`: the same bytes in the same order, and what could not be shared out is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.engines.worlds import runs
from trajcredit.cli.root import root
from trajcredit.model import encode


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("logs") / "runs.jsonl"
    file.write_bytes(b"\n".join(encode(one) for one in runs()) + b"\n")
    return str(file)


def score(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["score", *arguments])


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_pool_writes_the_same_bytes(log: str, tmp_path: Path, ending: str) -> None:
    written = []
    for engine in ("in-process", "pool"):
        out = tmp_path / f"{engine}.{ending}"
        workers = ("--workers", "2") if engine == "pool" else ()
        done = score(log, "-a", "grpo", "-a", "reinforce_pp", "-a", "dag", "-o", str(out), "--engine", engine, *workers)
        assert done.exit_code == 0, done.output
        assert ("reinforce_pp: 1" in done.stderr) == (engine == "pool")
        written.append(out.read_bytes())
    assert written[0] == written[1]


def test_an_unknown_engine_is_bad_usage(log: str) -> None:
    done = score(log, "--engine", "dask")
    assert done.exit_code == 2
    assert "no engine named 'dask'" in done.stderr
