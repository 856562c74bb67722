"""Skills: texts that say how work is done, those that come along and those of the home."""
