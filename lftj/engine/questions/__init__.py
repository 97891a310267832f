"""Questions: bodies that are read, checked and planned once, and asked for many values."""
