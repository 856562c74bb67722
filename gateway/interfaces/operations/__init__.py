"""Operations on a house, by its own process or by a command beside it."""
