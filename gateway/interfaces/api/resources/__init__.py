"""The resources below `/api/`: everything that Talaria stores about the person of a token."""
