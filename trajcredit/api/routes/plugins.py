"""What is registered, and whether the server is up."""

from __future__ import annotations

import typing
from typing import Any, Literal

from fastapi import APIRouter
from starlette.responses import Response

from trajcredit import __version__
from trajcredit.api.answers import Answer
from trajcredit.api.models import AttributorInfo, ExporterInfo, FormatInfo, Health, ParameterInfo, Tokenizers
from trajcredit.api.parameters import StoreDep, TokenizersDep
from trajcredit.service import tokenizers
from trajcredit.service.opening import file_name, look_at
from trajcredit.service.plugins import Parameter, attributors, default_text, exporters, formats, type_text

__all__ = ["health", "parameter_info", "router"]

router = APIRouter()
health = APIRouter()


@router.get("/attributors", response_model=list[AttributorInfo])
def list_attributors() -> list[AttributorInfo]:
    """Every attributor with its parameters."""
    return [
        AttributorInfo(
            name=plugin.name,
            summary=plugin.summary,
            parameters=list(map(parameter_info, plugin.parameters)),
            needs=list(plugin.needs),
            scope="batch" if plugin.scope == "batch" else "group",
        )
        for plugin in attributors()
    ]


@router.get("/exporters", response_model=list[ExporterInfo])
def list_exporters() -> list[ExporterInfo]:
    """Every exporter with its parameters."""
    return [
        ExporterInfo(
            name=plugin.name,
            summary=plugin.summary,
            parameters=list(map(parameter_info, plugin.parameters)),
            suffix=plugin.suffix or "",
        )
        for plugin in exporters()
    ]


@router.get("/tokenizers", response_model=Tokenizers)
def list_tokenizers(folder: TokenizersDep) -> Tokenizers:
    """The tokenizers that exports may name."""
    return Tokenizers(items=tokenizers.names(folder))


@router.get("/formats", response_model=list[FormatInfo])
def list_formats() -> list[FormatInfo]:
    """Every log format there is a reader for."""
    return [FormatInfo(name=plugin.name, summary=plugin.summary) for plugin in formats()]


@health.get("/healthz", response_model=Health)
def healthz(store: StoreDep) -> Response:
    """The server is up, and its database is there."""
    look_at(store)
    return Answer({"status": "ok", "version": __version__, "database": file_name(store)})


def parameter_info(parameter: Parameter) -> ParameterInfo:
    """A parameter as the API tells it."""
    return ParameterInfo(
        name=parameter.name,
        type=type_text(parameter.type),
        default=default_text(parameter.default),
        sentence=parameter.sentence,
        choices=choices_of(parameter.type),
    )


def choices_of(hint: Any) -> list[str] | None:
    """The values that a parameter of this type may have, where they can be listed."""
    if typing.get_origin(hint) is Literal:
        return [default_text(value) for value in typing.get_args(hint)]
    inside = [choices for part in typing.get_args(hint) if (choices := choices_of(part)) is not None]
    return inside[0] if inside else None
