"""Model servers on this machine: who runs where, which models they have, how to be gentle to them.

Nothing here is sent anywhere but to this machine's own loopback address.
"""
