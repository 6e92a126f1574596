"""OpenInference spans, as Phoenix and Arize keep them: lists of messages in dotted keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trajcredit.errors import ParseError
from trajcredit.formats.document import Document, Match
from trajcredit.formats.otel import holds, is_export, read_spans
from trajcredit.model import Trajectory
from trajcredit.registry import formats

__all__ = ["OpenInference"]

FORMAT = "openinference"


@formats.register(FORMAT)
@dataclass(frozen=True, slots=True)
class OpenInference:
    """OpenInference spans (Phoenix, Arize): OTLP as JSON or protobuf, lists of spans, rows of a data frame.

    Left out: retrievers, rerankers, embeddings and guardrails, settings of a request.
    """

    def sniff(self, document: Document) -> Match:
        """Spans that name their kind as these conventions do."""
        ours = is_export(document) and ("span_kind" in document.keys or holds(document, b"openinference.span.kind"))
        return Match.YES if ours else Match.NO

    def read(self, document: Document) -> Iterator[Trajectory | ParseError]:
        """One trajectory a trace and agent."""
        return read_spans(document, FORMAT)
