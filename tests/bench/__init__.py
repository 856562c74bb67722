"""Mirrors bench/."""
