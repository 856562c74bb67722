"""Loopback servers of the platforms and models, to which the real SDKs talk."""
