"""The subcommands of `talaria`, one module each."""
