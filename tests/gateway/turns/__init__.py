"""Tests of `gateway.turns`."""
