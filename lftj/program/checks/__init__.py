"""Checks of a program: names, types, safety, declarations; all errors are reported together."""
