"""The package adapters.toolkit."""
