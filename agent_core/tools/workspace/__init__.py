"""Tools that act in a person's workspace: `terminal`, `process`, files and search."""
