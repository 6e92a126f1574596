"""The local classifier as judge: tiny models built here; each score is that of a straight forward pass of its own."""

from __future__ import annotations

import json
import math
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.build import batch_of
from tests.judges.logs import call, log, result, said, user
from trajcredit.arrays import F64
from trajcredit.errors import InputError
from trajcredit.graph import build_graphs
from trajcredit.judges import Case, Means, RewardModel, Verdict, judge, segmented
from trajcredit.judges.models import Weights
from trajcredit.judges.reward_text import rendered
from trajcredit.model import Trajectory

transformers = pytest.importorskip("transformers", reason="judges that are local classifiers: pip install transformers")
torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WORDS = "system user assistant tool_call tool_result look book main upper seat cabin free none failed go done"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Folders of tiny models, each built once."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocab = {word: n for n, word in enumerate([*special, *WORDS.split(), *"{}:\"',.()0123456789-"])}
    raw = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    raw.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]")
    built: dict[Any, Path] = {}

    def make(kind: str = "Sequence", labels: int = 1, longest: int = 256) -> Path:
        if (kind, labels, longest) not in built:
            path = tmp_path_factory.mktemp("model")
            torch.manual_seed(labels)
            if kind == "Decoder":
                config = transformers.Qwen2Config(
                    vocab_size=len(vocab), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                    num_key_value_heads=2, intermediate_size=16, num_labels=labels, pad_token_id=0,
                )  # fmt: skip
                model = transformers.Qwen2ForSequenceClassification(config)
            else:
                config = transformers.BertConfig(
                    vocab_size=len(vocab), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=16, max_position_embeddings=longest, num_labels=labels,
                )  # fmt: skip
                model = getattr(transformers, f"BertFor{kind}Classification")(config)
                for weight in model.classifier.parameters():
                    weight.data.mul_(20.0)  # so that scores differ
            model.save_pretrained(path)
            tokenizer.save_pretrained(path)
            built[kind, labels, longest] = path
        return built[kind, labels, longest]

    return make


def _runs(count: int = 3) -> list[Trajectory]:
    out = []
    for n in range(count):
        more = [call("look", cabin="upper"), result("none", error=True)] * n
        found = [call("look", cabin="main"), result("seat free", error=False), said("done")]
        out.append(log(user("go book"), *more, *found, name=f"r{n}"))
    return out


def _judged(by: RewardModel, runs: list[Trajectory], means: Means | None = None) -> list[Verdict]:
    return list(by(_cases(runs, by.segments), means or Means()))


def _cases(runs: list[Trajectory], kind: str = "action") -> list[Case]:
    return [Case(graph, segmented(graph, kind)) for graph in build_graphs(runs)]


def _numbers(verdict: Verdict) -> F64:
    return np.array([verdict.start, *verdict.scores], dtype=np.float64)


def _straight(path: Path, text: str) -> Any:
    """Logits of one text, read alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    config = json.loads((path / "config.json").read_text())
    model = getattr(transformers, config["architectures"][0]).from_pretrained(path).eval()
    with torch.inference_mode():
        return model(**tokenizer(text, return_tensors="pt", return_token_type_ids=False)).logits[0].double().numpy()


@pytest.mark.parametrize("kind", ["Sequence", "Decoder"])
def test_a_sequence_classifier_reads_the_text_up_to_each_segment(made: Callable[..., Path], kind: str) -> None:
    path = made(kind)
    for verdict, case in zip(_judged(RewardModel(str(path)), _runs()), _cases(_runs()), strict=True):
        text, begins, ends = rendered(case)
        wanted = [1 / (1 + math.exp(-_straight(path, text[:end])[0])) for end in (begins, *ends)]
        np.testing.assert_allclose(_numbers(verdict), np.array(wanted), rtol=0, atol=1e-6)
        assert verdict.reasons == ()


def test_of_several_classes_the_positive_one_counts(made: Callable[..., Path]) -> None:
    path = made(labels=2)
    [verdict], [case] = _judged(RewardModel(str(path)), _runs(1)), _cases(_runs(1))
    text, _, ends = rendered(case)
    logits = _straight(path, text[: ends[0]])
    assert verdict.scores[0] == pytest.approx(math.exp(logits[1]) / np.exp(logits).sum(), abs=1e-6)
    [other] = _judged(RewardModel(str(path), positive=0), _runs(1))
    np.testing.assert_allclose(np.array(other.scores) + np.array(verdict.scores), 1.0, atol=1e-6)
    with pytest.raises(InputError, match="3 classes; positive= names one"):
        _judged(RewardModel(str(made(labels=3))), _runs(1))
    with pytest.raises(InputError, match="positive=7"):
        _judged(RewardModel(str(path), positive=7), _runs(1))


def test_a_process_model_says_it_at_the_last_token_of_each_segment(made: Callable[..., Path]) -> None:
    path = made("Token")
    for verdict, case in zip(
        _judged(RewardModel(str(path), segments="call"), _runs()), _cases(_runs(), "call"), strict=True
    ):
        text, begins, ends = rendered(case)
        logits = _straight(path, text)[1:-1, 0]  # without [CLS] and [SEP]
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        last = [len(tokenizer(text[:end], add_special_tokens=False)["input_ids"]) - 1 for end in (begins, *ends)]
        wanted = [1 / (1 + math.exp(-logits[i])) for i in last]
        np.testing.assert_allclose(_numbers(verdict), np.array(wanted), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["Sequence", "Token", "Decoder"])
def test_scores_do_not_depend_on_what_is_read_with_them(made: Callable[..., Path], kind: str) -> None:
    path = str(made(kind))
    runs = _runs(6)
    together = _judged(RewardModel(path), runs)
    for by in (RewardModel(path, batch_tokens=1), RewardModel(path, batch_tokens=120)):
        for one, two in zip(_judged(by, runs[::-1])[::-1], together, strict=True):
            np.testing.assert_allclose(np.array(one.scores), np.array(two.scores), rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["Sequence", "Token"])
def test_a_text_that_is_too_long_loses_its_beginning_and_says_so(made: Callable[..., Path], kind: str) -> None:
    path = str(made(kind, longest=32))
    long = log(user("go"), *(said(f"seat {n % 10}") for n in range(30)), name="long")
    [verdict] = _judged(RewardModel(path), [long])
    assert len(verdict.scores) == 30
    assert None not in verdict.scores
    assert verdict.reasons[0] == ""
    assert verdict.reasons[-1] == "read from its last 30 tokens"
    if kind == "Sequence":
        text = rendered(_cases([long])[0])[0]
        tail = " ".join(transformers.AutoTokenizer.from_pretrained(path).tokenize(text)[-30:])
        assert verdict.scores[-1] == pytest.approx(1 / (1 + math.exp(-_straight(Path(path), tail)[0])), abs=1e-6)


def test_columns_come_from_it_and_a_configured_folder_is_found_by_name(made: Callable[..., Path]) -> None:
    path = str(made())
    batch = judge(batch_of(*_runs()), RewardModel(path))
    assert np.isfinite(batch.scores[batch.action_mask]).all()
    assert (np.diff(batch.score_start) != 1).all()
    means = Means(models={"mine": Weights("mine", path)})
    assert _judged(RewardModel(), _runs(), means) == _judged(RewardModel(path), _runs())
    assert RewardModel(model="mine").reads_files is False
    assert RewardModel(path).reads_files is True
    assert RewardModel(path).basis(Means()) == RewardModel().basis(means)


def test_it_opens_no_connection(made: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    folder = shutil.copytree(made(), tmp_path / "model")  # not loaded before
    assert _judged(RewardModel(str(folder)), _runs(1))[0].missing is None


def _edit(path: Path, **change: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))


def test_t17_what_could_run_code_is_never_read(made: Callable[..., Path], tmp_path: Path) -> None:
    def folder(name: str) -> Path:
        return Path(shutil.copytree(made(), tmp_path / name))

    pickled = folder("pickled")
    (pickled / "model.safetensors").unlink()
    (pickled / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    coded, tokenized, sharded, foreign = (folder(name) for name in ("coded", "tokenized", "sharded", "foreign"))
    _edit(coded / "config.json", auto_map={"AutoModel": "evil.Model"})
    _edit(tokenized / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.T", None]})
    (sharded / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../x.safetensors"}}))
    _edit(foreign / "config.json", architectures=["BertForMaskedLM"])
    broken, empty = folder("broken"), tmp_path / "none"
    (broken / "model.safetensors").write_bytes(b"nonsense")
    for path, said_ in (
        (pickled, "pytorch_model.bin can hold code, and is never read"),
        (coded, "names code of its own"),
        (tokenized, "names code of its own"),
        (sharded, "is no safetensors file of this folder"),
        (foreign, "expected a ...ForSequenceClassification"),
        (broken, "no reward model can be loaded"),
        (empty, "expected a folder with config.json"),
    ):
        with pytest.raises(InputError, match=said_):
            _judged(RewardModel(str(path)), _runs(1))


def test_weights_that_lack_the_head_are_refused(made: Callable[..., Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = Path(shutil.copytree(made(), tmp_path / "headless"))
    weights = {name: value for name, value in load_file(path / "model.safetensors").items() if "classifier" not in name}
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="the weights lack classifier"):
        _judged(RewardModel(str(path)), _runs(1))


def test_a_model_that_gives_no_number_judges_nothing(made: Callable[..., Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = Path(shutil.copytree(made(), tmp_path / "nan"))
    weights = load_file(path / "model.safetensors")
    weights["classifier.bias"] = torch.full_like(weights["classifier.bias"], float("nan"))
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    [verdict] = _judged(RewardModel(str(path)), _runs(1))
    assert verdict.missing == "the model gave no number"


def test_the_fingerprint_follows_from_weights_and_parameters(made: Callable[..., Path], tmp_path: Path) -> None:
    path = Path(shutil.copytree(made(), tmp_path / "other"))
    first = RewardModel(str(path)).basis(Means())
    assert RewardModel(str(path), batch_tokens=9, device="cpu").basis(Means()) == first
    changed = (RewardModel(str(path), max_tokens=99), RewardModel(str(path), positive=1))
    others = {one.basis(Means()).fingerprint for one in changed}
    shutil.copy(made(labels=2) / "model.safetensors", path / "model.safetensors")
    others.add(RewardModel(str(path)).basis(Means()).fingerprint)
    assert len({first.fingerprint, *others}) == 4


def test_parameters_out_of_range_are_named() -> None:
    wrongs: tuple[tuple[Any, str], ...] = (
        ({"max_tokens": 1}, "max_tokens"),
        ({"batch_tokens": 0}, "batch_tokens"),
        ({"device": "tpu"}, "device"),
        ({"segments": "chapter"}, "kind of segment"),
    )
    for wrong, said_ in wrongs:
        with pytest.raises(InputError, match=said_):
            RewardModel(**wrong)
    with pytest.raises(InputError, match="path= names the folder"):
        RewardModel().basis(Means())
    with pytest.raises(InputError, match="either path or model"):
        RewardModel("x", "y").basis(Means())
