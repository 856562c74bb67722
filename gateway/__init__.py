"""The gateway: connects the chat platforms and the agent; nothing imports it."""
