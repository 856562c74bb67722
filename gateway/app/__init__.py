"""The application: its settings, and what builds, starts and stops the gateway.

Only `gateway.app.settings` reads the environment. The command line imports modules of this package
one by one, so that a command loads only what it needs.
"""
