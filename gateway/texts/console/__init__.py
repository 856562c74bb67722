"""Sentences of the pages of the console."""
