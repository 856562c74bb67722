"""Tests of `gateway.outbound.webhooks`."""
