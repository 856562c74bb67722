"""The package gateway.outbound."""
