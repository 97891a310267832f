"""Rows that are there: their smallest proofs, in the rules of users, and when base facts came."""
