"""Builds the gateway from its settings, starts it and stops it in order.

`app.run` is the entry point. The command line imports modules of this package one by one, so that a
command loads only what it needs.
"""
