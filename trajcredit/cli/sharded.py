"""`trajcredit score -o DIR/`: rows in shards of whole groups, a file each."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from trajcredit.cli.options import Asked, tell_errors
from trajcredit.cli.terminal import amount, gauge, say
from trajcredit.errors import InputError, SkippedFile

__all__ = ["is_folder", "score_folder"]


def is_folder(out: str) -> bool:
    """Whether what is named is a folder, there or to be made."""
    return out.endswith(("/", os.sep)) or Path(out).is_dir()


def score_folder(
    asked: Asked,
    attributors: Sequence[str],
    out: str,
    to: str | None,
    rewards: str | None,
    tokenizer: str | None,
    engine: str,
    workers: int | None,
    spans: int | None,
) -> NoReturn:
    """Score into a folder, tell what came of it, and end."""
    from trajcredit import engines
    from trajcredit.service import sharded, sharding

    for option, given in (("--rewards", rewards), ("--tokenizer", tokenizer)):
        if given is not None:
            raise InputError(f"{option} does not go with a folder of shards (-o {out}): name a file")
    said = asked.settings
    how = sharding.Asked(asked.format_name, said.project, said.reward, said.group_by, dict(said.writes))
    with engines.engine(engine, workers) as working, gauge("scoring shards") as told:
        done = sharded.score_shards(
            working, asked.paths, Path(out), attributors, to or "parquet", how, spans or sharding.SPANS, told
        )
    tell_errors(done.errors)
    for count in done.notes:
        say(f"note: {count}")
    runs = amount(done.trajectories, "trajectory", "trajectories")
    files = amount(len(done.parts), "file")
    say(f"{amount(done.rows, 'row')} of {runs} in {amount(done.groups, 'group')}, {files}: {out}")
    sys.exit(0 if all(isinstance(error, SkippedFile) for error in done.errors) else 1)
