"""What digests are made of: things gathered from named sources, and charts of numbers."""
