"""Right answers on published data."""
