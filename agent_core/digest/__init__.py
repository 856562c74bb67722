"""Digests: gather calendars, feeds, pages and reminders, and draw charts."""
