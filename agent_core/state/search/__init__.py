"""Full-text search over messages.

`search` finds ids; `passages` reads the messages and sessions behind them.
"""
