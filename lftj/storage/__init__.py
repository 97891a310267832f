"""Relations as immutable versions: a relation holds one scan tree per key order, a database one
version per relation.
"""
