"""Queries over people, accounts, links, owners, rooms, delivery targets and the audit trail."""
