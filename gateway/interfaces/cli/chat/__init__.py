"""`talaria chat`: chats with the assistant in the terminal, or through a pipe."""
