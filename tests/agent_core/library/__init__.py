"""Tests of the assistant inside another program."""
