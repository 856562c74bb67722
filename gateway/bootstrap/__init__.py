"""The package gateway.bootstrap."""
