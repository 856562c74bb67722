"""Tests of gateway/media."""
