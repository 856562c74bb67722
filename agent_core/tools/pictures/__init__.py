"""Tools whose results are pictures for the person."""
