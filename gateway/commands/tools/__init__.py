"""Commands about tools."""
