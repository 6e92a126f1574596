"""What is registered, and whether the server is up."""

from __future__ import annotations

from typing import Literal

from trajcredit.api.models.common import Out

__all__ = ["AttributorInfo", "ExporterInfo", "FormatInfo", "Health", "ParameterInfo", "Suggestions", "Tokenizers"]


class ParameterInfo(Out):
    """One parameter of an attributor or exporter."""

    name: str
    type: str
    default: str
    sentence: str
    choices: list[str] | None = None


class AttributorInfo(Out):
    """A registered attributor."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    needs: list[str]
    scope: Literal["group", "batch"]


class ExporterInfo(Out):
    """A registered exporter; one with a parameter `tokenizer` writes tokens."""

    name: str
    summary: str
    parameters: list[ParameterInfo]
    suffix: str


class Tokenizers(Out):
    """Names that `tokenizer` of an export may have."""

    items: list[str]


class Suggestions(Out):
    """Names that a filter box may offer: the most frequent, at most 200."""

    items: list[str]


class FormatInfo(Out):
    """A registered log format."""

    name: str
    summary: str


class Health(Out):
    """The server is up."""

    status: Literal["ok"] = "ok"
    version: str
    database: str | None
    """The name of its SQLite file, without the folder; null of another database."""
