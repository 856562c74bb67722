"""Benchmarks of the gateway on this machine against emulators, beside bare SDK bots."""
