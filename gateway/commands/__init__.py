"""Slash commands: one registry, from which every menu is made."""
