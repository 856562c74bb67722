"""Operations of the command line, run by the gateway or on its database."""
