"""Scheduled jobs: triggers, occurrences, missed runs, and the `schedule` tool."""
