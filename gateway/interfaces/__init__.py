"""The package gateway.interfaces."""
