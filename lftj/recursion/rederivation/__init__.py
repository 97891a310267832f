"""Following changes of a recursive stratum by its rows alone: delete what may have lost a derivation, and derive again [DRed]."""
