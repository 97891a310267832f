"""Rules of every call of a user, whatever it does: its options, the limits it runs under, word of
its progress, and what a backend refuses.
"""
