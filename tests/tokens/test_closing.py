"""Closing tags: which there are, and that looking for one takes no longer than reading the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcredit.tokens.territories import last_closing

PLAIN = re.compile(r"</[^<>\s]+>|\[/[^\[\]\s]+\]|<[|｜][^<>|｜]*end[^<>|｜]*[|｜]>|<[^<>|\s]+\|>")
"""What a closing tag is, written without care for time."""


@given(st.lists(st.sampled_from(["<", ">", "|", "｜", "end", "e", " ", "/", "[", "]", "<|", "|>"]), max_size=30))
def test_closing_tags_are_those_of_the_plain_pattern(parts):
    text = "".join(parts)
    found = [match.end() for match in PLAIN.finditer(text)]
    assert last_closing(text, 0, len(text)) == (found[-1] if found else None)


@pytest.mark.parametrize("repeated", ["end", "<|end", "<", "</x", "[/", "|", "<|"])
def test_a_long_text_without_a_closing_tag_ends(repeated):
    """Going back over it at each of its letters would take longer than anybody waits."""
    assert last_closing("<|" + repeated * 300_000, 0, 2 + 300_000 * len(repeated)) is None
