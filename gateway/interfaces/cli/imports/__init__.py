"""`talaria import`: shows the memory, skills and jobs of another assistant, and imports them."""
