"""The terminal chat: a client of the console's socket, for a prompt or a pipe."""
