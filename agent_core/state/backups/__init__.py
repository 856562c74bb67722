"""A home as one file: writing, checking, encrypting and restoring it.

`making` and `restoring` are the entry points; `switching` finishes a restore that was interrupted.
"""
