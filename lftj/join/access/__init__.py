"""Evaluation of bodies without a triejoin: row scans, star joins by look-up, semi-join
reduction.
"""
