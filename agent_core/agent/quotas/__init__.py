"""Daily quotas: check and reserve the cost of each model call before it is made."""
