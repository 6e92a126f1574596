"""Mirrors the package: by hand, against the slow twin, by law."""
