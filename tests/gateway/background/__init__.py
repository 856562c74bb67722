"""Tests of `gateway.background`."""
