"""The console's pages, rendered on the server, from Today to Health."""
