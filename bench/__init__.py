"""Measurements of the gateway against emulators on this machine, beside a bare SDK bot."""
