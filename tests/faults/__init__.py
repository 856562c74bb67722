"""The gateway is killed wherever it may hurt, started anew, and what people saw is counted."""
