"""The verbs of `talaria skills`: list skills, show and undo changes, archive and restore."""
