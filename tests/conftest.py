"""Hypothesis without a deadline: the first example of a law compiles a kernel."""

from hypothesis import settings

settings.register_profile("trajcredit", deadline=None)
settings.load_profile("trajcredit")
