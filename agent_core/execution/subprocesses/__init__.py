"""Child processes: how they start, and how they are confined.

Import the modules directly: programs that run in a child must not load modules that they don't use.
"""
