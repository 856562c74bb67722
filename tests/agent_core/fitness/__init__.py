"""Tests of the fitness test of models."""
