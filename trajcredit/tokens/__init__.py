"""Trajectories and credit -> token records: which tokens a trainer sees, and which span each belongs to."""

from trajcredit.tokens.align import align
from trajcredit.tokens.count import Counted
from trajcredit.tokens.padding import padded
from trajcredit.tokens.record import (
    SHARES,
    Aligned,
    Failure,
    IdsSource,
    MisalignedError,
    OwnedTokens,
    Share,
    TokenRow,
    checked,
)
from trajcredit.tokens.tokenizer import Renderer

__all__ = [
    "SHARES",
    "Aligned",
    "Counted",
    "Failure",
    "IdsSource",
    "MisalignedError",
    "OwnedTokens",
    "Renderer",
    "Share",
    "TokenRow",
    "align",
    "checked",
    "padded",
]
