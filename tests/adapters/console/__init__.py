"""Tests of the console folder."""
