"""Chat platforms behind one contract; this wing knows nothing of the agent."""
