"""The person's own words as the evidence of a change: which wish they state, what it covers."""
