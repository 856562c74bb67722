"""Child processes: how they start, and how they are confined.

Import the modules: the programs that run in a child can't wait for what they don't use.
"""
