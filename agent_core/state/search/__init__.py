"""Full-text search over messages: `search` finds ids, `passages` reads their messages and
sessions.
"""
