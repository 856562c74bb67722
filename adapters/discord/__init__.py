"""Discord, through its gateway and REST API."""
