"""Queries over scheduled jobs: `jobs`, their runs, their owners, and the messages that they
sent.
"""
