"""Readers of untrusted documents: separate processes, and the code that starts them."""
