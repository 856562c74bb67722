"""Tests of `gateway.people`."""
