"""`talaria plugins`: lists plug-ins, and explains faults of the enabled ones."""
