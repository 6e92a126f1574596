"""What is registered, and whether the server is up."""

from __future__ import annotations

from typing import Literal

from trajcredit.api.models.common import Out

__all__ = ["AttributorInfo", "FormatInfo", "Health", "ParameterInfo", "Suggestions"]


class ParameterInfo(Out):
    """One parameter of an attributor."""

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
