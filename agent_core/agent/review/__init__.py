"""Background review: keep what a person's finished turns teach, if the person's words prove it.

A review reads a copy of the conversation, and imports nothing that runs a conversation.
"""
