"""Queries over conversations: sessions, turns, messages, files, questions, usage, compactions."""
