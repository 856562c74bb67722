"""Search over all past messages."""
