"""The triejoin in compiled code: what the words of a plan and of a state mean, and what is done
with them.
"""
