"""`talaria chat`: talks to the assistant in the terminal, or through a pipe."""
