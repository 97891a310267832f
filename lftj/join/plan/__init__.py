"""Plans of joins: variable orders, their costs, statistics, and the choice of indexes."""
