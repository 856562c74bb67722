"""Recall: its speed, the size of its index, and the quality of its results."""
