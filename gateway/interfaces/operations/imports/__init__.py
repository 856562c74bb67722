"""Operations that import the memory and jobs of another assistant."""
