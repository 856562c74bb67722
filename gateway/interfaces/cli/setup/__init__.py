"""`talaria setup`: asks questions in a terminal, or reads the environment."""
