"""The outbox: dispatches messages in order; live messages, indicators, questions, quiet hours."""
