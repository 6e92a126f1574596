"""Many graphs -> Batch: flat columns with offsets, the one layout that kernels and attributors take."""

from trajcredit.batching.batch import Batch
from trajcredit.batching.columns import Columns, columns_of
from trajcredit.batching.decisions import decisions, spread, turns_of
from trajcredit.batching.findings import Finding
from trajcredit.batching.groups import GROUP_FIELDS, Key, check_fields, group_key, group_names
from trajcredit.batching.heads import Head
from trajcredit.batching.keys import call_keys, plain
from trajcredit.batching.overrides import columns_with_overrides
from trajcredit.batching.pack import Whole, assemble, pack
from trajcredit.batching.parents import shared_outcomes
from trajcredit.batching.rewards import choose_source, named

__all__ = [
    "GROUP_FIELDS",
    "Batch",
    "Columns",
    "Finding",
    "Head",
    "Key",
    "Whole",
    "assemble",
    "call_keys",
    "check_fields",
    "choose_source",
    "columns_of",
    "columns_with_overrides",
    "decisions",
    "group_key",
    "group_names",
    "named",
    "pack",
    "plain",
    "shared_outcomes",
    "spread",
    "turns_of",
]
