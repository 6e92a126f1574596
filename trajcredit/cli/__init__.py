"""The command line: a thin door to the service. Nothing heavy is imported until a command runs."""

from trajcredit.cli.root import main

__all__ = ["main"]
