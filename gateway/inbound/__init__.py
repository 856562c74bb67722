"""Inbound events: stores them, and routes each to a command or to the lane of its conversation."""
