"""Calibration of a judge's scores on other groups; the arithmetic is shared with attributors (`kernels.crossfit`)."""

from trajcredit.kernels.crossfit import calibrated, cross_fitted, folds

__all__ = ["calibrated", "cross_fitted", "folds"]
