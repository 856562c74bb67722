"""Write, check, encrypt and restore a home as one file.

`making` and `restoring` are the entry points; `switching` finishes an interrupted restore.
"""
