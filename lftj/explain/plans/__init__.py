"""Plans: of a rule or query, what its levels cost, and how its view is maintained."""
