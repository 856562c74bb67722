"""The policy of calls: the actions that a call declares, and what may run."""
