"""A workspace while it lives: the engine, which shows one committed state after another, and what
readers ask of it.
"""
