"""Stored workspaces: the log of commits, and pages, strings and checksums on disk, for workspaces
of one process and for parts on Spark.
"""
