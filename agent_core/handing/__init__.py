"""Handing things over: files that a turn makes for its person."""
