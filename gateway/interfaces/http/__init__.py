"""Health, the console page and their gate."""
