"""Tests of `gateway.outbound`."""
