"""The local voice and ear of the extra `voice`: programs, and what of them is installed."""
