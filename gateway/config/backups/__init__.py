"""The settings of backups, and the choice of what a backup contains."""
