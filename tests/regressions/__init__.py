"""What once went wrong, in its shortest form, kept for ever."""
