"""Tests of what answers claim, against what their turns were asked for and did."""
