"""The console: a Unix socket in the home, for `talaria chat` and the console page."""
