"""Tools: their contract, the toolbox that runs them, and tools without a package of their own."""
