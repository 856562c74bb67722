"""Tools for the chat itself."""
