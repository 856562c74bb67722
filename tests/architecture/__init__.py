"""Tests of the building itself: sizes, names, arrows and what the pages say."""
