"""Tests of what may be reached on the network."""
