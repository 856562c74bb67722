"""How fast recall finds, how large its index is, and how good what it finds is."""
