"""The arithmetic: pure functions of flat arrays, compiled by numba on first use and kept on disk."""
