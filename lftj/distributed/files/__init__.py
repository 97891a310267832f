"""Committed state on disk: manifests, the entries of commits, programs and strings."""
