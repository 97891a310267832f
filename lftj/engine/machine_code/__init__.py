"""Machine code of kernels before a program calls them: which kernels there are, and the library of
them.
"""
