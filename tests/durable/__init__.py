"""Workspaces that last: reopened, killed, cut off, read by others."""
