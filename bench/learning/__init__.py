"""Learning: what reviews keep of a simulated person, and what they add to a turn."""
