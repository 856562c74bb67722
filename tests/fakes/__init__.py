"""Fakes of contracts: they play what a test plans and record what they saw."""
