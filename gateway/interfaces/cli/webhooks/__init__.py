"""`talaria webhooks`: adds, tests and lists outgoing webhooks."""
