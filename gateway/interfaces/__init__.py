"""The command line, the terminal chat, the HTTP server, and the operations they share."""
