"""Web search: one contract, and the engines that implement it."""
