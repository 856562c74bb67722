"""Tests of the policy: what commands would do, and what is asked before they do it."""
