"""The package adapters.slack.ingest."""
