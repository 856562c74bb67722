"""`talaria import`: shows what another assistant knows, and takes it over entry by entry."""
