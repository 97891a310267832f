"""Showing what the engine does: plans and memory, as text and as tables."""
