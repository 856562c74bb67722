"""The verbs: each one runs the commands of the machine's service manager."""
