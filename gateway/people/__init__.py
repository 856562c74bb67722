"""People: identification, linked accounts, rooms, and requests about a person's data."""
