"""Deeds of the table in docs/surfaces.md, as rows that do one on each surface."""
