"""Tests of the Signal adapter."""
