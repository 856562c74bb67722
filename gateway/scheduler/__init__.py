"""The package gateway.scheduler."""
