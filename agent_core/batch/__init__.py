"""Batch runs: many tasks for the assistant, each with a person and a workspace of its own.

The folder of a run is a whole home: one database with the tasks, the turns and what they cost, and
the workspaces. The database is the checkpoint, so a killed run goes on from its last recorded step.
"""
