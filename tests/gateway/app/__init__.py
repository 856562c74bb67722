"""Tests of `gateway.app`."""
