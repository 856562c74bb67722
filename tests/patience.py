"""How long a test waits for a condition."""

PATIENCE = 90.0
"""Seconds until a wait fails. Many times what a quiet machine needs, for one that five parts of
the tests and others share. Less than the timeout at which `make test` ends a part that hangs.
"""
