"""Critics: models fitted to outcomes that forecast returns and the advantages of choices; nobody is scored by a model
that saw its group. `fill` writes their answers into the columns of a batch, from which attributors read them."""

from trajcredit.critics.filling import COLUMNS, KINDS, fill

__all__ = ["COLUMNS", "KINDS", "fill"]
