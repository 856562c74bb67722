"""Jobs: what fires them, their runs, what became of those, and where results go."""
