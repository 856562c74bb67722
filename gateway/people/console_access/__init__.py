"""Access of people to their pages of the console: one-time links, and consent to be read."""
