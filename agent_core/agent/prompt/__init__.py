"""What a model is told before anyone speaks, and beside what they say."""
