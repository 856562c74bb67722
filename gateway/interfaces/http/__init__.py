"""The HTTP server: health, the console page, and their gate."""
