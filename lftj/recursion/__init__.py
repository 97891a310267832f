"""Strata whose relations depend on one another: rounds until nothing new is found."""
