"""Checks of an installation that contact no service and change nothing."""
