"""The package adapters.discord.ingest."""
