"""The web: the guarded HTTP client for every fetch, and the tools for it."""
