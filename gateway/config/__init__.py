"""The package gateway.config."""
