"""Execution backends: their contract, and the local one, which runs commands in bubblewrap."""
