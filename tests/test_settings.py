"""trajcredit.toml: what it may say, where it is looked for, and how it complains."""

from __future__ import annotations

from pathlib import Path

import pytest

from trajcredit.errors import InputError
from trajcredit.settings import Settings, find, load, tool_table

EVERYTHING = """
project = "flights"
reward = "human"
group_by = "task+step"

[tools]
writes = ["hold_seat"]
reads = ["set_filter"]
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "trajcredit.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_key_is_read(tmp_path: Path) -> None:
    assert load(written(tmp_path, EVERYTHING)) == Settings(
        writes={"hold_seat": True, "set_filter": False}, reward="human", group_by="task+step", project="flights"
    )


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert load(written(tmp_path, "")) == Settings()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("rewrad = 'human'", "unknown key 'rewrad'", id="a misspelt key is named"),
        pytest.param("[tools]\nwrite = []", "unknown key 'write'", id="a misspelt key of a table is named"),
        pytest.param("reward = 1", "reward must be text, not 1", id="a number is no source"),
        pytest.param("tools = []", "tools must be a table", id="tools is a table"),
        pytest.param("[tools]\nwrites = 'pay'", "writes must be a list of tool names", id="one tool is a list of one"),
        pytest.param("[tools]\nwrites = [1]", "writes must be a list of tool names", id="a tool name is text"),
        pytest.param("[tools]\nwrites = ['a']\nreads = ['a']", "tool 'a' is listed under", id="a tool is one of both"),
        pytest.param("reward = ", "Invalid value", id="broken TOML says where"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_file_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        load(file)
    assert complaint in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("path", ["log.json", "*.json", "lo[g].json", ".", "-"])
def test_the_file_beside_the_log_or_in_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    written(tmp_path, 'project = "here"')
    monkeypatch.chdir(tmp_path)
    assert find([path]).project == "here"


def test_beside_the_first_log_wins_over_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").mkdir()
    written(tmp_path, 'project = "current"')
    written(tmp_path / "logs", 'project = "beside"')
    monkeypatch.chdir(tmp_path)
    assert find(["logs/a.json", "b.json"]).project == "beside"
    assert find(["logs"]).project == "beside"
    assert find(["logs/*.json"]).project == "beside"
    assert find(["b.json", "logs/a.json"]).project == "current"


def test_without_a_file_there_are_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find([]) == find(["-"]) == find(["log.json"]) == Settings()


def test_a_tool_listed_twice_under_writes_is_one_tool() -> None:
    assert tool_table(["pay", "pay"], ["look"]) == {"pay": True, "look": False}
