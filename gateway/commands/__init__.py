"""The slash commands: their catalog, their contract and their handlers.

Each group of commands is a class with only the services that it uses.
"""
