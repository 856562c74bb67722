"""Erasure of a person, and removal of words, from all tables and files."""
