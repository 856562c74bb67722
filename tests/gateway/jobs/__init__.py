"""Tests of `gateway.jobs`."""
