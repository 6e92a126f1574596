"""Reading a tokenizer's files, and texts that continue others."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from tests.tokens.tokenizers import byte_level, saved, sentencepiece_like
from trajcredit.errors import InputError
from trajcredit.model import Span, Trajectory
from trajcredit.tokens import Renderer, align

USER = [{"role": "user", "content": "Hi"}]


def configured(folder: Path, **config: Any) -> Path:
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def test_a_folder_or_its_file_and_where_the_template_is_from(tmp_path):
    folder = byte_level(tmp_path / "t", "config")
    assert Renderer.load(folder).render(USER, [], prompt=True) == "config"
    assert Renderer.load(str(folder / "tokenizer.json")).render(USER, [], prompt=True) == "config"
    (folder / "chat_template.jinja").write_text("beside", encoding="utf-8")
    assert Renderer.load(folder).render(USER, [], prompt=True) == "beside"
    given = tmp_path / "own.jinja"
    given.write_text("{{ greeting }}{{ eos_token }}", encoding="utf-8")
    loaded = Renderer.load(folder, given, variables={"greeting": "hello"})
    assert loaded.render(USER, [], prompt=True) == "hello<|im_end|>"


def test_named_templates_and_special_tokens_as_objects(tmp_path):
    named = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"}]
    folder = configured(byte_level(tmp_path / "t"), chat_template=named, eos_token={"content": "<|im_end|>"})
    loaded = Renderer.load(folder)
    assert (loaded.render(USER, [], prompt=True), loaded.render(USER, [{}], prompt=True)) == ("plain", "tools")
    assert loaded.ends == ("<|im_end|>",)
    assert loaded.pad_id is None


def test_end_tokens_of_the_generation_config_count_too(tmp_path):
    folder = byte_level(tmp_path / "t")
    (folder / "generation_config.json").write_text('{"eos_token_id": [1, 3]}', encoding="utf-8")
    assert Renderer.load(folder).ends == ("<|endoftext|>", "<|im_end|>")


def test_unknown_end_tokens_are_noted(tmp_path):
    folder = byte_level(tmp_path / "t")
    (folder / "generation_config.json").write_text('{"eos_token_id": [1, 999999]}', encoding="utf-8")
    loaded = Renderer.load(folder)
    assert loaded.ends == ("<|endoftext|>", "<|im_end|>")
    assert loaded.notes == (
        "eos_token_id of generation_config.json holds ids that the tokenizer does not have: left out",
    )


@pytest.mark.parametrize("number", ["99999999999", "-4", '"x"', "1.5", "true"])
def test_end_tokens_that_are_no_ids_are_named(tmp_path, number):
    folder = byte_level(tmp_path / "t")
    file = folder / "generation_config.json"
    file.write_text(f'{{"eos_token_id": [1, {number}]}}', encoding="utf-8")
    with pytest.raises(InputError, match="eos_token_id holds") as error:
        Renderer.load(folder)
    assert str(error.value).startswith(f"{file}: ")


@pytest.mark.parametrize(
    "model",
    [
        pytest.param({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}, id="words"),
        pytest.param({"type": "Unigram", "unk_id": None, "vocab": [["a", -1.0]]}, id="unigrams"),
    ],
)
def test_a_tokenizer_without_an_unknown_token_is_named(tmp_path, model):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps({"version": "1.0", "model": model}), encoding="utf-8")
    with pytest.raises(InputError, match=r"model: it cannot encode .*: .*(UNK|unk_id)") as error:
        Renderer.load(tmp_path)
    assert str(error.value).startswith(f"{file}: ")


def test_the_date_that_templates_write_is_noted_and_can_be_given(tmp_path):
    folder = byte_level(tmp_path / "t", "{{ strftime_now('%d %b %Y') }}")
    loaded = Renderer.load(folder)
    assert loaded.render(USER, [], prompt=True) == "26 Jul 2024"
    assert loaded.notes == ("the chat template asks for today's date: 2024-07-26 is written where it does",)
    given = Renderer.load(folder, variables={"strftime_now": "2025-01-02"})
    assert (given.render(USER, [], prompt=True), given.notes) == ("02 Jan 2025", ())
    with pytest.raises(InputError, match=r"strftime_now='today'.* YYYY-MM-DD"):
        Renderer.load(folder, variables={"strftime_now": "today"})


def test_a_tokenizer_that_cuts_and_pads_does_neither_here(tmp_path):
    folder = byte_level(tmp_path / "t")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=64)
    loaded = Renderer.load(saved(tokenizer, folder))
    assert loaded.decode(loaded.ids("hello there")) == "hello there"


def test_white_space_is_part_of_the_token_that_begins_with_it(tmp_path):
    """Byte-level post-processors trim it off the places, which would give a border's space to the wrong span."""
    loaded = Renderer.load(byte_level(tmp_path / "t"))
    ids, starts = loaded.pieces("the user")
    assert [loaded.decode([i]) for i in ids] == ["t", "he", " user"]
    assert starts.tolist() == [0, 1, 3]


def test_a_text_that_goes_on_has_no_space_put_before_it(tmp_path):
    loaded = Renderer.load(sentencepiece_like(tmp_path / "t"))
    assert loaded.anchor is not None
    assert str(loaded.tokenizer.id_to_token(loaded.ids("the", begins=True)[0])).startswith("▁")
    first, starts = loaded.pieces("the")
    assert not str(loaded.tokenizer.id_to_token(first[0])).startswith("▁")
    assert starts[0] == 0
    assert loaded.notes == ()


def test_letters_of_several_ids_are_spelled_whole(tmp_path):
    loaded = Renderer.load(byte_level(tmp_path / "t"))
    ids = loaded.ids("a🛶b")
    assert len(ids) == 6
    text, starts = loaded.spelled(ids)
    assert (text, starts.tolist()) == ("a🛶b", [0, 1, 1, 1, 1, 2])
    broken, places = loaded.spelled(ids[:3])  # cut within a letter
    assert broken == loaded.decode(ids[:3])
    assert places.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        pytest.param({}, "no such file", id="nothing there"),
        pytest.param({"tokenizer.json": "{}"}, "not a tokenizer", id="another JSON"),
        pytest.param({"tokenizer_config.json": "["}, "not JSON", id="a broken configuration"),
        pytest.param({"tokenizer_config.json": "[]"}, "expected a JSON object", id="a configuration that is a list"),
        pytest.param(
            {"tokenizer_config.json": '{"chat_template": 1}'}, "chat_template is int", id="a template of a number"
        ),
        pytest.param({"chat_template.jinja": "{% if"}, "not a chat template", id="a broken template"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, files, reason):
    folder = tmp_path / "t"
    folder.mkdir()
    if files and "tokenizer.json" not in files:
        byte_level(folder)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=reason) as error:
        Renderer.load(folder)
    assert str(folder / next(iter(files), "tokenizer.json")) in str(error.value)


def test_a_template_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"none\.jinja: cannot read"):
        Renderer.load(byte_level(tmp_path / "t"), tmp_path / "none.jinja")


def test_without_a_template_texts_are_not_rendered(tmp_path):
    loaded = Renderer.load(configured(byte_level(tmp_path / "t")))
    found = align(Trajectory(id="t", spans=[Span("assistant", 0, text="Hi")]), np.array([1.0]), "g", renderer=loaded)
    assert "no chat template" in found.failures[0].reason


def test_without_the_packages_the_error_says_what_to_install(tmp_path, monkeypatch):
    there = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "tokenizers":
            raise ImportError("No module named 'tokenizers'")
        return there(name, *args, **kwargs)

    folder = byte_level(tmp_path / "t")
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"pip install 'trajcredit\[tokenizers\]'"):
        Renderer.load(folder)
