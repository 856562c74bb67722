"""Benchmarks of skills: the choice among many, and the time to load them."""
