"""`talaria plugins`: lists plug-ins, and says what is wrong with those that are enabled."""
