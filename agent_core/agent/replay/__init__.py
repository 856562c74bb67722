"""Rebuilds what models were sent from what is recorded, and plays turns again from it."""
