"""Named agents: their files, what they may use, and the messages between them."""
