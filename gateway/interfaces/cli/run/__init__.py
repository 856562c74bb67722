"""`talaria run`: starts the gateway and serves until a signal asks it to stop."""
