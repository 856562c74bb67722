"""`talaria restore`: reads a backup, checks it, and puts it in the place of the home."""
