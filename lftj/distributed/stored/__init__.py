"""What parts are maintained with, on disk, so that another worker opens it instead of deriving it
anew.
"""
