"""Work that nobody waits for: reviews, the curator, tests of skills, retention and alerts."""
