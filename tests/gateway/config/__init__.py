"""Tests of `gateway.config`."""
