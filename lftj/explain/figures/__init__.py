"""Figures of a workspace: rows, memory, and the work of commits."""
