"""Tests of `gateway.inbound`."""
