"""Tests of the tools of skills."""
