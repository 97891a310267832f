"""Bringing views up to date when what they read has changed."""
