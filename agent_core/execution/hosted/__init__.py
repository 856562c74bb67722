"""Backends whose sandboxes a provider hosts: each person has one, which sleeps when idle."""
