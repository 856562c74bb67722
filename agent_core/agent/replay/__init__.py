"""Rebuild the requests of past turns from their records, and replay them."""
