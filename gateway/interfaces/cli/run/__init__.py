"""`talaria run`: starts the gateway and serves until it is asked to stop."""
