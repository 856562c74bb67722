"""The package gateway.texts."""
