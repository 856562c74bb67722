"""The names in a home that no backup contains; a small module, because every command imports it."""

STAGING = ".restore"
"""The folder in a home in which a restore unpacks a backup."""
REHEARSAL = ".rehearsal"
"""The folder in a home in which a rehearsal unpacks a backup."""
