"""Tests of the console adapter."""
