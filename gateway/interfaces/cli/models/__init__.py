"""`talaria models`: lists the configured models with their prices, and updates the price table."""
