"""Tests of `gateway.scheduler`."""
