"""Finds faults of a running gateway, and alerts its owners to them."""
