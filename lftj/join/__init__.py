"""Leapfrog triejoin: variable orders, plans, and the one kernel that runs them, in `kernels`."""
