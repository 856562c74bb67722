"""What is done at its time: which moments are meant, which were missed, and how a model asks."""
