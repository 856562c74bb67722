"""Backups: made, read again, refused and restored."""
