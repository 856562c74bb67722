"""Queries over queues: inbox, outbox with dead letters, deferred messages and background tasks.

`read_positions` and `unreachable_chats` hold the state of channels and chats.
"""
