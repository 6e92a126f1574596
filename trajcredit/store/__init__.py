"""Trajectories, rewards, runs and credits in SQL: a SQLite file, or PostgreSQL; one module a noun."""

from trajcredit.store.engine import Store, StoreFullError, open_store

__all__ = ["Store", "StoreFullError", "open_store"]
