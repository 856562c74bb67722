"""The archive: unlimited notes that the model searches on demand, outside the prompt."""
