"""Rows a second and peak memory of `trajcredit export --to verl`, for a log as it is and several times over.

    python bench/token_export.py LOG [--times 4] [--to verl]

The log is stored once, and again several times over under other names, in databases of their own; a tokenizer is
trained on its text. Each export is a process of its own, so that its peak memory is its own; the ratio of the two says
whether memory grows with the number of trajectories.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import trajcredit as tc
from trajcredit.model import Trajectory, body, encode

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] or '' }}"
    "{% for call in message.get('tool_calls') or [] %}\n<tool_call>\n{\"name\": \"{{ call['function']['name'] }}\", "
    "\"arguments\": {{ call['function']['arguments'] | tojson }}}\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A plain template; the log's tools are not declared in it."""
WORDS = 8_000
PEAK = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], check=True); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def main() -> None:
    """Measure and print one line an export."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--to", default="verl")
    asked = parser.parse_args()
    trajectories = list(tc.read(asked.log))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tokenizer = _tokenizer(trajectories, place / "tokenizer")
        peaks = [_measured(trajectories, times, asked.to, tokenizer, place) for times in (1, asked.times)]
    print(f"peak memory {asked.times} times over, to once: {peaks[1] / peaks[0]:.2f}")


def _measured(trajectories: list[Trajectory], times: int, to: str, tokenizer: Path, place: Path) -> float:
    """Export this log so many times over; its peak memory in MB."""
    log, database, out = place / f"{times}.jsonl", place / f"{times}.db", place / f"{times}.out"
    with log.open("wb") as file:
        for n in range(times):
            for one in trajectories:
                file.write(encode(replace(one, id=f"{one.id}~{n}", group=f"{one.group or one.task}~{n}")) + b"\n")
    env = {**os.environ, "TRAJCREDIT_DB": str(database)}
    program = [sys.executable, "-m", "trajcredit.cli"]
    for command in (["ingest", str(log)], ["run", "grpo"]):
        subprocess.run([*program, *command], check=True, env=env, capture_output=True)
    began = time.perf_counter()
    export = [*program, "export", "--run", "grpo", "--to", to, "--tokenizer", str(tokenizer), "-o", str(out)]
    told = subprocess.run([sys.executable, "-c", PEAK, *export], check=True, env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    peak = int(told.stdout.split()[-1]) / 1024
    rows = int(told.stderr.split(" rows:")[0].split()[-1].replace(",", ""))
    print(
        f"{times * len(trajectories)} trajectories: {rows} rows in {seconds:.1f} s, {rows / seconds:.1f} rows/s, "
        f"peak {peak:.0f} MB, file {out.stat().st_size / 1e6:.1f} MB"
    )
    return peak


def _tokenizer(trajectories: list[Trajectory], folder: Path) -> Path:
    """A byte-level BPE of the log's own words, with a chat template, saved as such folders are."""
    special = ["<|im_start|>", "<|im_end|>"]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        _texts(trajectories[:50]),
        trainers.BpeTrainer(vocab_size=WORDS, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    config = {"chat_template": CHATML, "eos_token": "<|im_end|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def _texts(trajectories: list[Trajectory]) -> Iterator[str]:
    return (body(span) for one in trajectories for span in one.spans)


if __name__ == "__main__":
    main()
