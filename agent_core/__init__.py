"""The agent: thinks, remembers, acts; has never heard of any chat platform."""
