"""Queries over memory: ledger, archive, blocks, shares, evidence, owners, skills, external sync."""
