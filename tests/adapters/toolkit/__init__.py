"""Tests of the toolkit that the adapters share."""
