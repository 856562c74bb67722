"""Tests of `gateway.interfaces`."""
