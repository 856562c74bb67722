"""Keeps long talks within what a model can read: shortens, then folds the oldest turns."""
