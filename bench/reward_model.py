"""Reading by length against reading one by one: python bench/reward_model.py

A small random classifier of this shape reads rollouts whose lengths differ thirtyfold; what counts is the ratio, of one
process and one run. On a GPU the gap is wider: there short batches leave most of it idle.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from trajcredit.graph import build_graphs
from trajcredit.judges import Case, Means, RewardModel, segmented
from trajcredit.model import Reward, Span, Trajectory

RUNS, LONGEST = 64, 30
WORDS = [f"w{n}" for n in range(500)]


def folder(path: Path) -> Path:
    """A classifier of two layers and 64 wide, with a tokenizer of words."""
    vocab = {word: n for n, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
    raw = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]")  # type: ignore[no-untyped-call]
    tokenizer.save_pretrained(path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128,
        max_position_embeddings=2048, num_labels=1,  # type: ignore[call-arg]
    )  # fmt: skip
    transformers.BertForSequenceClassification(config).save_pretrained(path)
    return path


def runs() -> list[Trajectory]:
    """Rollouts of 1 to LONGEST actions of about 20 words."""
    rng = np.random.default_rng(0)
    found = []
    for n in range(RUNS):
        said = [" ".join(rng.choice(WORDS, 20)) for _ in range(1 + n * LONGEST // RUNS)]
        spans = [
            Span(kind="user", turn=-1, text="w1"),
            *(Span(kind="assistant", turn=t, text=s) for t, s in enumerate(said)),
        ]
        found.append(Trajectory(id=f"r{n}", spans=spans, rewards=[Reward(1.0)]))
    return found


def seconds(by: RewardModel, cases: list[Case]) -> float:
    """Of judging all of them."""
    begun = time.perf_counter()
    for _ in by(cases, Means()):
        pass
    return time.perf_counter() - begun


def main() -> None:
    """Print the ratios."""
    torch.set_num_threads(1)
    cases = [Case(graph, segmented(graph, "action")) for graph in build_graphs(runs())]
    segments = sum(len(case.segments) for case in cases)
    with tempfile.TemporaryDirectory() as place:
        path = str(folder(Path(place)))
        seconds(RewardModel(path), cases[:4])
        alone = seconds(RewardModel(path, batch_tokens=1), cases)
        print(f"{segments:,} segments of {RUNS} rollouts, {'CUDA' if torch.cuda.is_available() else 'one CPU core'}")
        print(f"one by one: {segments / alone:,.0f} segments a second; ratio 1")
        for tokens in (1024, 4096, 16384):
            spent = seconds(RewardModel(path, batch_tokens=tokens), cases)
            print(f"by length, {tokens:,} tokens at once: ratio {alone / spent:.2f}")


if __name__ == "__main__":
    main()
