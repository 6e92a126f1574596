"""Prints the OpenAPI document: python -m trajcredit.api.openapi."""

from __future__ import annotations

import json

from trajcredit.api.app import bare

__all__ = ["document"]


def document() -> str:
    """The document with its keys sorted, so that it changes only where the API does."""
    return json.dumps(bare().openapi(), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


if __name__ == "__main__":
    print(document(), end="")
