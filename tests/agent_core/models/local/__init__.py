"""Tests of the model servers of this machine."""
