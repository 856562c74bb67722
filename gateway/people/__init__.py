"""The package gateway.people."""
