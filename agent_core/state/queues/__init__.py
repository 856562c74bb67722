"""Queries over queues: inbox, outbox with dead letters, deferred messages and background tasks.

`inbox` also holds the read position of each channel. `unreachable_chats` holds the chats that no
longer accept messages.
"""
