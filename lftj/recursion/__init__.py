"""Strata whose relations depend on one another: rounds until nothing new is found.

From below: `rounds` find rows from nothing; `update` follows a change through rows that stand with their iterations; `by_parts` closes
strata that fall apart; `bootstrap` and `elastic` choose among these, for views that are wanted once and for those that are kept; `best` is
recursion that keeps a least or greatest value; `rederivation` follows changes where nothing but the rows is kept; `strategy` says which of
these ways a stratum goes at a commit.
"""
