"""One database: every query, and nothing but queries."""
