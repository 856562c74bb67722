"""Queries over scheduled jobs, their runs, their owners, and their messages."""
