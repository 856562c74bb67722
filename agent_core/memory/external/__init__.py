"""An outside memory: told of everything in order and durably, asked for a moment only."""
