"""Thinking that was written into the text of an answer is marked, so that nobody takes its markup for logged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.logs import read_lines, read_one
from tests.formats.test_openhands import V1
from trajcredit.formats.said import messages_of
from trajcredit.model import Trajectory

USER = {"role": "user", "content": "go"}
INLINE = {"role": "assistant", "content": "<think>hm</think>Yes."}
APART = {"role": "assistant", "content": "Yes.", "reasoning_content": "hm"}


def marks(found: Any) -> list[bool]:
    assert isinstance(found, Trajectory)
    return [span.inferred for span in found.spans if span.kind == "reasoning"]


@pytest.mark.parametrize(("answer", "inferred"), [(INLINE, True), (APART, False)], ids=["inline", "apart"])
def test_in_chats_and_in_rows_that_hold_them(answer: dict[str, Any], inferred: bool) -> None:
    assert marks(read_one({"messages": [USER, answer]})) == [inferred]
    assert marks(read_one({"prompt": [USER], "completion": [answer], "reward": 1.0})) == [inferred]
    assert [piece.inferred for piece in messages_of([answer])[0]] == [inferred, False]


def test_in_texts_of_verl_and_events_of_openhands() -> None:
    verl = {"input": "user\nAdd.\nassistant\n", "output": "<think>hm</think>5", "gts": "5", "score": 1.0, "step": 1}
    assert marks(read_one(verl)) == [True]
    [found] = read_lines(*V1, format="openhands")
    assert marks(found) == [True, False]
