"""Transactions: what users do between a beginning and an end, gathered in a draft."""
