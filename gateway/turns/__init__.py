"""A turn from its queued messages to its end: lanes, the runner, what is shown, the finalizer."""
