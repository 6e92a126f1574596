"""The tokenizers that a server lets its clients use: folders in one place, by name. A client never names a path."""

from __future__ import annotations

from pathlib import Path

from trajcredit.errors import InputError

__all__ = ["named", "names"]


def names(folder: Path | None) -> list[str]:
    """The folders with a tokenizer.json in it, sorted; none without a place for them."""
    if folder is None or not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if (entry / "tokenizer.json").is_file())


def named(folder: Path | None, name: str) -> str:
    """The path of that tokenizer; InputError lists the known names, or says how a server gets some."""
    known = names(folder)
    if folder is None or name not in known:
        has = ", ".join(known) or "none; `trajcredit serve --tokenizers FOLDER` says where they lie"
        raise InputError(f"no tokenizer {name[:100]!r} on this server; it has: {has}")
    return str(folder / name)
