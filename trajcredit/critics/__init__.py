"""Critics: models fitted to outcomes that forecast returns and the advantages of choices; nobody is scored by a model
that saw its group. `fill` writes their answers into the columns of a batch, from which attributors read them; `fit`
keeps the fitted models, to be applied to new trajectories, `to_bytes` and `load` as a file."""

from trajcredit.critics.critic_file import SCHEMA, known, load, to_bytes
from trajcredit.critics.filling import COLUMNS, KINDS, fill
from trajcredit.critics.kept import FittedCritic, FittedPool, code_hash, fit

__all__ = [
    "COLUMNS",
    "KINDS",
    "SCHEMA",
    "FittedCritic",
    "FittedPool",
    "code_hash",
    "fill",
    "fit",
    "known",
    "load",
    "to_bytes",
]
