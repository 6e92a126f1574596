"""OpenTelemetry's conventions for generative AI, in all three ways in which they have kept what was said.

Messages as attributes (`gen_ai.input.messages`), as events or log records (`gen_ai.user.message`), or as numbered
attributes (`gen_ai.prompt.0.content`); the tool calls of ADK, Pydantic AI, OpenLLMetry and the AI SDK beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, Match
from trajcredit.formats.otel import holds, is_export, read_spans
from trajcredit.formats.otlp import ENVELOPES
from trajcredit.model import Trajectory
from trajcredit.registry import formats

__all__ = ["OtelGenAI"]

FORMAT = "otel_genai"


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OtelGenAI:
    """OpenTelemetry spans with the `gen_ai` conventions: OTLP as JSON or protobuf, log records, lists of spans.

    Left out: spans of no model, tool or agent (HTTP, databases), settings of a request, blobs and files.
    """

    def sniff(self, document: Document) -> Match:
        """Spans with attributes of these conventions, and none of OpenInference's; envelopes of others, to say so."""
        if not is_export(document) or holds(document, b"openinference.span.kind"):
            return Match.NO
        if holds(document, b"gen_ai.", b"traceloop.", b"ai.operationId"):
            return Match.YES
        return Match.FALLBACK if document.keys & ENVELOPES else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a trace and agent."""
        return read_spans(document, FORMAT)
