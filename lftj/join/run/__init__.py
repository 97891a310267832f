"""Runs of plans: assembling the arrays of the kernel, slices of work, threads."""
