"""Stand-ins for contracts, one each: they play what a test tells them and keep what they saw."""
