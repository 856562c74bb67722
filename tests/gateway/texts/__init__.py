"""Tests of `gateway.texts`."""
