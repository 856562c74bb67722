"""Tests of gateway/media/voices."""
