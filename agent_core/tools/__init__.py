"""Tools: their contract, and the box that runs them."""
