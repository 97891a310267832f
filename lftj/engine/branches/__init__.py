"""Branches of a workspace: their engines, and merging one into another."""
