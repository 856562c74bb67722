"""Settings, the files of the home directory, the log and the clock.

Import from here. Only `gateway.config.settings` reads the environment.
"""
