"""Compaction: shorten long conversations to fit the context window."""
