"""States that views are maintained with as plain data, to be opened by another process."""
