"""`talaria turns`: shows and exports turns, and lists messages that could not be delivered."""
