"""Columns -> credit per span: one attributor a file, all registered."""

from trajcredit.attributors.base import Attribution, Attributor, Term, configure

__all__ = ["Attribution", "Attributor", "Term", "configure"]
