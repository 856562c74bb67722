"""Backends whose commands run below a reaper on this machine, without namespaces."""
