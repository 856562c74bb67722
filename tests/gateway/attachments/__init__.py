"""Tests of `gateway.attachments`."""
