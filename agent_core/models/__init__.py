"""Model providers behind one contract."""
