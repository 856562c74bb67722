"""Usage: the daily cost of model calls, savings by caching, and the rest of the limits."""
