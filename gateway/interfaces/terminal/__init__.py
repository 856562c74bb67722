"""The terminal chat: a client of the console's socket, as a pipe and as a prompt."""
