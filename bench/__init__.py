"""Benchmarks: each figure is a ratio, or stated in its unit, taken in one run after the results
were seen to be equal.

Run one with `uv run python -m bench NAME`. The names are in `registry`, the bars in `bars`, the
traps in `README.md`.
"""
