"""Scheduled jobs: triggers, occurrences, missed runs, and the tools for jobs."""
