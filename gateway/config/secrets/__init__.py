"""The secrets that tools use by name, from a file of the home."""
