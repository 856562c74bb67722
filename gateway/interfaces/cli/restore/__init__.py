"""`talaria restore`: reads and checks a backup, and replaces the home with it."""
