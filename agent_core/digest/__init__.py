"""Digests: gather calendars, feeds, pages and reminders."""
