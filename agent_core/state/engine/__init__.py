"""The SQLite engine: opening, the group-committing writer, readers, backups and migrations.

`database` is the entry point; `meta` holds single values of Talaria itself.
"""
