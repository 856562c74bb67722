"""Environments for reinforcement learning: task sets that the assistant plays, and judges.

A policy decides what the model says; our own tool loop does the rest, in the sandbox. See
docs/environments.md.
"""
