"""The inside of a workspace: staging, commits, keys, limits, results and the writer, for every kind
of workspace.
"""
