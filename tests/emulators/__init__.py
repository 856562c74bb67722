"""Loopback servers of platforms and models, for the real SDKs."""
