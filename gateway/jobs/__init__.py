"""The package gateway.jobs."""
