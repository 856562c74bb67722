"""The package gateway.inbound."""
