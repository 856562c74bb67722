"""Curated memory: short lists of notes that are always in the prompt.

The ledger in the database is the source of truth; two Markdown files per person mirror it.
"""
