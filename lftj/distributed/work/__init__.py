"""What workers do when they are asked: commits, questions, operations that depend on rows which are
there.
"""
