"""Delete and re-derive (DRed): recursive strata followed by their rows, without counts."""
