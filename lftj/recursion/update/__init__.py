"""The elastic update: from what changed below a stratum to the state that a bootstrap would give, iteration by iteration."""
