"""Integration tests: a whole gateway over fakes and emulators."""
