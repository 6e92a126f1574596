"""Credit -> files: one file format a module, all registered."""

from trajcredit.exporters.credit import Credit
from trajcredit.exporters.jsonl import Jsonl
from trajcredit.exporters.parquet import Parquet
from trajcredit.exporters.rows import COLUMNS, SCHEMA, Exporter

__all__ = ["COLUMNS", "SCHEMA", "Credit", "Exporter", "Jsonl", "Parquet"]
