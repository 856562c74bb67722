"""Queries across many tables: merge, split, export, redaction, erasure and retention.

`inspect` reads a database from outside, `scrubbing` removes deleted bytes from the file.
"""
