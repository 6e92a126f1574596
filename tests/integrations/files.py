"""Files that an exporter wrote, as a trainer's process finds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trajcredit.exporters import TokenExporter
from trajcredit.tokens import TokenRow

__all__ = ["rewritten", "written"]


def written(exporter: TokenExporter, folder: Path, *rows: TokenRow) -> Path:
    """The file of these rows."""
    path = folder / f"advantages{exporter.suffix}"
    with path.open("wb") as file:
        exporter.encode(iter(rows), file)
    return path


def rewritten(path: Path, line: int = 0, **fields: Any) -> Path:
    """The file of JSON lines with some fields of one line set; a field set to `...` is taken out."""
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    lines[line] = {name: value for name, value in (lines[line] | fields).items() if value is not ...}
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path
