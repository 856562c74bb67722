"""Suites that every implementation of a contract passes."""
