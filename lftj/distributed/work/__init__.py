"""Work of workers: commits, questions, operations that depend on existing rows."""
