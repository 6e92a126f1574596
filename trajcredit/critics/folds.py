"""Folds by group: nobody is scored by a model that saw its task."""

from __future__ import annotations

from trajcredit.kernels.folds import FOLDS, folds_of, ranks

__all__ = ["ALL", "FOLDS", "folds_of", "ranks"]

ALL = -1
"""The fold of no group: a model without it is fitted on all of them."""
