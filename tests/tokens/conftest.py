"""What tests of rows from text share: a tokenizer with the chat template of the test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tokens.tokenizers import CHATML, byte_level
from trajcredit.tokens import Renderer


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """template -> renderer."""

    def loaded(template: str = CHATML, **more: Any) -> Renderer:
        return Renderer.load(byte_level(tmp_path / "tokenizer", template), **more)

    return loaded


@pytest.fixture
def changed(load: Any) -> Any:
    """What to put for a piece of the plain template -> renderer."""

    def loaded(*changes: tuple[str, str]) -> Renderer:
        template = CHATML
        for old, new in changes:
            assert old in template
            template = template.replace(old, new)
        renderer: Renderer = load(template)
        return renderer

    return loaded
