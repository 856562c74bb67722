"""Checks that contact services and read the whole database, and fixes that are safe."""
