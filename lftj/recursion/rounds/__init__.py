"""Rounds of semi-naïve evaluation: variants of rules, what each reads in a round, and the sets in which candidates turn out to be new."""
