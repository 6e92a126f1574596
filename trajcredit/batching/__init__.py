"""Many graphs -> Batch: flat columns with offsets, the one layout that kernels and attributors take."""

from trajcredit.batching.batch import Batch
from trajcredit.batching.groups import GROUP_FIELDS
from trajcredit.batching.pack import pack

__all__ = ["GROUP_FIELDS", "Batch", "pack"]
