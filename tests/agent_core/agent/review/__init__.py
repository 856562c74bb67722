"""Tests of background reviews."""
