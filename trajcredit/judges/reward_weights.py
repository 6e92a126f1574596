"""A reward model from a folder: safetensors and nothing that could run, nothing from the network.

torch and transformers are imported where they are used: programs that need no such judge do not wait for them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trajcredit.arrays import F64
from trajcredit.errors import InputError

__all__ = ["Kind", "Network", "fingerprint", "network"]

Kind: TypeAlias = Literal["sequence", "process"]
KINDS: dict[str, Kind] = {"ForSequenceClassification": "sequence", "ForTokenClassification": "process"}
READ = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A loaded model and its tokenizer."""

    kind: Kind
    classes: int
    before: tuple[int, ...]
    """Tokens that open every sequence, and that close it."""
    after: tuple[int, ...]
    pad: int
    longest: int | None
    """Tokens that the model can read at once, where it says so."""
    tokenizer: Any
    model: Any
    device: str

    def tokens(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of a text without those that open and close it, and where each ends in the text."""
        found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return list(found["input_ids"]), [stop for _, stop in found["offset_mapping"]]

    def logits(self, sequences: Sequence[Sequence[int]]) -> list[F64]:
        """Of each sequence, with what opens and closes it around it: f64[classes], or of each of its own tokens
        f64[n, classes]. All are padded to the longest and read at once."""
        import torch

        whole = [[*self.before, *one, *self.after] for one in sequences]
        width = max(map(len, whole))
        ids = torch.tensor([[*one, *[self.pad] * (width - len(one))] for one in whole], device=self.device)
        mask = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in whole], device=self.device)
        with torch.inference_mode():
            found = self.model(input_ids=ids, attention_mask=mask).logits.double().cpu().numpy()
        if self.kind == "sequence":
            return list(found)
        start = len(self.before)
        return [found[k, start : start + len(one)] for k, one in enumerate(sequences)]


def network(path: Path, device: str) -> Network:
    """The model of a folder, of which nothing is run; InputError says what is wrong with one that cannot be used."""
    _checked(path)
    return _loaded(path, device, _stamp(path))


def fingerprint(path: Path) -> str:
    """A hash (hex) of weights, settings and tokenizer."""
    _checked(path)
    return _hashed(path, _stamp(path))


@lru_cache(maxsize=1)
def _loaded(path: Path, device: str, stamp: tuple[Any, ...]) -> Network:
    try:
        import torch
        import transformers
        from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer
    except ImportError as error:
        raise InputError("judge reward_model needs `pip install 'trajcredit[reward-model]'`") from error
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = _kind(path)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # standard error is ours
    from_folder = {"local_files_only": True, "trust_remote_code": False}
    auto = AutoModelForSequenceClassification if kind == "sequence" else AutoModelForTokenClassification
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(path), use_fast=True, **from_folder)
        model, report = auto.from_pretrained(
            str(path), use_safetensors=True, dtype=torch.float32, output_loading_info=True, **from_folder
        )
    except Exception as error:  # whatever a broken folder makes of it
        raise InputError(f"{path}: no reward model can be loaded: {type(error).__name__}: {error}") from error
    if report["missing_keys"]:
        some = ", ".join(sorted(report["missing_keys"])[:3])
        raise InputError(f"{path}: the weights lack {some}: they would be drawn at random")
    if not tokenizer.is_fast:
        raise InputError(f"{path}: expected a tokenizer.json")
    before, after = _around(tokenizer)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    if pad is None:
        raise InputError(f"{path}: the tokenizer names no token to pad with")
    if kind == "sequence" and model.config.pad_token_id is None:
        model.config.pad_token_id = pad  # else decoders find the last token of no sequence but the longest
    longest = getattr(model.config, "max_position_embeddings", None)
    model = model.eval().to(device)
    return Network(kind, model.config.num_labels, before, after, pad, longest, tokenizer, model, device)


@lru_cache(maxsize=8)
def _hashed(path: Path, stamp: tuple[Any, ...]) -> str:
    found = sha256()
    for name, *_ in stamp:
        with (path / name).open("rb") as file:
            found.update(name.encode())
            while piece := file.read(1 << 22):
                found.update(piece)
    return found.hexdigest()


def _checked(path: Path) -> None:
    if not (path / "config.json").is_file():
        raise InputError(f"{path}: expected a folder with config.json, tokenizer.json and {WEIGHTS}")
    for name in ("config.json", "tokenizer_config.json"):
        if (path / name).is_file() and "auto_map" in _json(path / name):
            raise InputError(f"{path / name}: `auto_map` names code of its own, which is never run")
    _kind(path)
    if not _weights(path):
        found = [one.name for one in sorted(path.iterdir()) if one.suffix in (".bin", ".pt", ".pth", ".pkl", ".ckpt")]
        what = f"; {found[0]} can hold code, and is never read: convert it to safetensors" if found else ""
        raise InputError(f"{path}: no {WEIGHTS}{what}")


def _kind(path: Path) -> Kind:
    named = [str(name) for name in _json(path / "config.json").get("architectures") or []]
    for name in named:
        for ending, kind in KINDS.items():
            if name.endswith(ending):
                return kind
    raise InputError(
        f"{path / 'config.json'}: architectures {named}: expected a ...ForSequenceClassification, which scores a text, "
        "or a ...ForTokenClassification, which scores every step of it"
    )


def _weights(path: Path) -> list[str]:
    """Names of the files of weights."""
    index = path / f"{WEIGHTS}.index.json"
    if not index.is_file():
        return [WEIGHTS] if (path / WEIGHTS).is_file() else []
    names = sorted(set(map(str, _json(index).get("weight_map", {}).values())))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors") or not (path / name).is_file():
            raise InputError(f"{index}: {name!r} is no safetensors file of this folder")
    return names


def _stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Files that are read, with size and time: other ones are loaded anew."""
    names = [name for name in READ if (path / name).is_file()] + _weights(path)
    stats = [(name, (path / name).stat()) for name in names]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected a JSON object")
    return found


def _around(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens that a tokenizer puts before and after every text."""
    for probe in ("user", "a", "user: 1"):
        bare = list(tokenizer(probe, add_special_tokens=False)["input_ids"])
        whole = list(tokenizer(probe)["input_ids"])
        for start in range(len(whole) - len(bare) + 1):
            if bare and whole[start : start + len(bare)] == bare:
                return tuple(whole[:start]), tuple(whole[start + len(bare) :])
    raise InputError("the tokenizer of the reward model gives a text other tokens by itself than between its marks")
