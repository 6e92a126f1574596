"""Hypothesis without a deadline: the first example of a law compiles a kernel. And what browser tests need."""

from hypothesis import settings

from tests.web.scripts import browser, tools

__all__ = ["browser", "tools"]

settings.register_profile("trajcredit", deadline=None)
settings.load_profile("trajcredit")
