"""People and rooms for owners, and a person's own accounts."""
