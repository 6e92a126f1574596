"""trajcredit: which call earned the reward. Agent logs in, per-span advantages out."""

__version__ = "0.1.0"
