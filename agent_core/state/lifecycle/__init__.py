"""Queries across many tables: merge, split, export, redaction, erasure and retention.

`inspect` reads a database that is not open; `scrubbing` removes deleted bytes from the file.
"""
