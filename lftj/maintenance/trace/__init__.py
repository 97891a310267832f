"""Maintenance by trace: which rules keep one, at which granularity, and its state."""
