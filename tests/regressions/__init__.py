"""Past defects, each in its shortest form, kept for ever."""
