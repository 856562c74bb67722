"""Tests of batch runs."""
