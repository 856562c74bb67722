"""Tests of skills: cases from recorded turns, replayed with and without the skill."""
