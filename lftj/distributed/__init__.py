"""Workspaces whose data lives with an executor's workers, cut into parts, and as files under one path."""
