"""Tests of `gateway.media`."""
