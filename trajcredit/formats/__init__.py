"""Log bytes -> trajectories: one reader a format, all registered; `Reader` says what one is."""

from trajcredit.formats.canonical import Canonical
from trajcredit.formats.document import Document, Match, Record, decoded, trajectories
from trajcredit.formats.openai_chat import OpenAIChat
from trajcredit.formats.reading import Reader, read, read_bytes
from trajcredit.formats.tau_bench import TauBench

__all__ = [
    "Canonical",
    "Document",
    "Match",
    "OpenAIChat",
    "Reader",
    "Record",
    "TauBench",
    "decoded",
    "read",
    "read_bytes",
    "trajectories",
]
