"""Reader programs: each parses untrusted data in its own process, within resource limits."""
