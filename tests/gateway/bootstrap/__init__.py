"""Tests of `gateway.bootstrap`."""
