"""The package gateway.turns."""
