"""The results of jobs: agent turns, outcomes, notifications and their history."""
