"""The tools of skills: read one, search them, and change the home's own."""
