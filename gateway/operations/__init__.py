"""Every deed that a person or an owner can ask for; the interfaces and slash commands call these.

An operation knows no interface: it takes its services from a context, and returns plain values.
"""
