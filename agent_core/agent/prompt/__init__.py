"""The system prompt of a conversation, and the facts in front of each message."""
